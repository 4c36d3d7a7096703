//! The description of one result, read in as many pieces as it takes.

use std::time::Instant;

use domain::{
    battle::digest::Questions,
    output::{Measured, Output},
};
use futures::future::{BoxFuture, FutureExt as _};
use tokio::sync::mpsc;

use crate::{
    backend::{self, Message, Request, Role, native},
    engine::{Backend, Stop},
};

pub(crate) struct Digesting {
    pub client: reqwest::Client,
    /// Who is asked and how; the question is its last message.
    pub request: Request,
    pub questions: Questions,
}

impl Backend for Digesting {
    fn run<'a>(
        &'a self,
        outputs: &'a mpsc::Sender<Output>,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<Measured, backend::Error>> {
        async move {
            let started = Instant::now();
            let mut notes = Vec::new();
            for question in &self.questions.notes {
                let request = Request {
                    max_tokens: Some(self.questions.notes_tokens_max()),
                    ..self.asking(question.clone())
                };
                notes.push(self.note(&request, outputs, stop).await?);
            }
            let request = self.asking(self.questions.last(&notes));
            let reply = native::run(&self.client, &request, outputs, stop.token()).await?;
            Ok(Measured { duration_ms: started.elapsed().as_millis() as u64, ..reply.measured })
        }
        .boxed()
    }
}

impl Digesting {
    fn asking(&self, question: String) -> Request {
        let mut request = self.request.clone();
        request.messages.pop();
        request.messages.push(Message::new(Role::User, question));
        request
    }

    /// What is noted on the way is no part of the answer.
    async fn note(
        &self,
        request: &Request,
        outputs: &mpsc::Sender<Output>,
        stop: &Stop,
    ) -> Result<String, backend::Error> {
        let (heard, mut said) = mpsc::channel(64);
        let thoughts = async {
            while let Some(output) = said.recv().await {
                let output = match output {
                    Output::Text(text) => Output::Reasoning(text),
                    other => other,
                };
                let _ = outputs.send(output).await;
            }
        };
        let asking = async {
            let reply = native::run(&self.client, request, &heard, stop.token()).await;
            drop(heard);
            reply
        };
        let (reply, ()) = tokio::join!(asking, thoughts);
        Ok(reply?.text)
    }
}
