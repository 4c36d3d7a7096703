//! What is known of a turn with an agent that came to its end.

use std::time::Duration;

use acp::{Counted, Ended};
use domain::output::{Measured, Output, Usage};
use tokio::sync::mpsc;

use super::say;
use crate::backend;

pub(super) struct Talked {
    pub ended: Ended,
    /// From its start to its last word.
    pub worked: Duration,
    /// What the model server said of its work.
    pub server: Measured,
    /// Whether tokens were told while it worked.
    pub is_counted: bool,
}

impl Talked {
    /// Nobody reads along where an agent asks on its own account: what it used is known at the end, if at all.
    pub async fn tell_usage(&self, outputs: &mpsc::Sender<Output>) -> Result<(), backend::Error> {
        match self.told().filter(|_| !self.is_counted) {
            Some(usage) => say(outputs, Output::Usage(usage)).await,
            None => Ok(()),
        }
    }

    /// The model server's own word goes before the agent's, which may leave calls out.
    pub fn measured(&self) -> Result<Measured, backend::Error> {
        let Self { ended, worked, server, .. } = self;
        let failed = |words: &str| Err(backend::Error::Agent { words: words.to_owned() });
        match ended.stop {
            acp::Stop::Cancelled => Err(backend::Error::Cancelled),
            acp::Stop::Refused => failed("The agent refused to go on."),
            acp::Stop::CallLimit => failed("The agent reached its own limit of calls."),
            acp::Stop::Done | acp::Stop::TokenLimit => Ok(Measured {
                duration_ms: worked.as_millis() as u64,
                usage: server.usage.or_else(|| self.told()),
                cut_short: ended.stop == acp::Stop::TokenLimit,
                ..server.clone()
            }),
        }
    }

    /// What the agent says that it used. Of the last call alone it would look like little work.
    fn told(&self) -> Option<Usage> {
        self.ended.usage.filter(|_| self.ended.counted == Counted::Turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told at the end of a turn of which the agent says that it used 9 tokens.
    async fn check(is_counted: bool, counted: Counted, expected: Option<u64>) {
        let usage = Some(Usage { prompt_tokens: Some(7), completion_tokens: Some(2) });
        let (session, stop) = (String::new(), acp::Stop::Done);
        let ended = Ended { session, can_resume: false, resumed: false, usage, counted, stop };
        let server = Measured::default();
        let (outputs, mut told) = mpsc::channel(1);
        let talked = Talked { ended, worked: Duration::ZERO, server, is_counted };
        talked.tell_usage(&outputs).await.unwrap();
        let told = told.try_recv().ok().map(|output| match output {
            Output::Usage(usage) => usage.tokens(),
            other => panic!("{other:?}"),
        });
        assert_eq!(told, expected, "{is_counted} {counted:?}");
    }

    #[tokio::test]
    async fn what_nobody_counted_while_it_worked_is_told_once_at_the_end() {
        check(false, Counted::Turn, Some(9)).await;
        check(true, Counted::Turn, None).await;
        check(false, Counted::LastCall, None).await;
    }
}
