//! What is asked of a layout goes one by one: a split that is asked for while a tab is still being opened is meant for
//! the layout with that tab.

use std::{
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use leptos::prelude::*;

#[derive(Clone, Copy, Default)]
pub struct Turns(StoredValue<Queue>);

#[derive(Default)]
struct Queue {
    given: u64,
    served: u64,
    waiting: Vec<Waker>,
}

impl Turns {
    /// Its turn is the next one from now on, not from when it is first polled.
    pub fn take<T>(self, ask: impl Future<Output = T>) -> impl Future<Output = T> {
        let number = self.0.try_update_value(Queue::draw);
        async move {
            poll_fn(|context| {
                self.0.try_update_value(|queue| queue.poll(number, context)).unwrap_or(Poll::Ready(()))
            })
            .await;
            let answer = ask.await;
            self.0.try_update_value(Queue::pass_on);
            answer
        }
    }
}

impl Queue {
    fn draw(&mut self) -> u64 {
        self.given += 1;
        self.given - 1
    }

    fn poll(&mut self, number: Option<u64>, context: &Context<'_>) -> Poll<()> {
        if number.is_none_or(|number| number == self.served) {
            return Poll::Ready(());
        }
        self.waiting.push(context.waker().clone());
        Poll::Pending
    }

    fn pass_on(&mut self) {
        self.served += 1;
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_taken_in_the_order_of_asking() {
        let mut queue = Queue::default();
        let context = Context::from_waker(Waker::noop());
        let (first, second) = (Some(queue.draw()), Some(queue.draw()));
        assert!(queue.poll(second, &context).is_pending(), "the first has not even begun");
        assert!(queue.poll(first, &context).is_ready());
        assert!(queue.poll(second, &context).is_pending(), "the first is still at it");
        queue.pass_on();
        assert!(queue.poll(second, &context).is_ready());
        queue.pass_on();
        assert!(queue.waiting.is_empty(), "nobody is woken twice");
        let third = Some(queue.draw());
        assert!(queue.poll(third, &context).is_ready(), "an empty queue keeps nobody waiting");
    }
}
