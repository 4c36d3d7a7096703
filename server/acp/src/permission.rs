//! What an agent asks before it goes on, and how it is answered: by what an option means, never by its name.

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
    SelectedPermissionOutcome,
};
use domain::tool::{Ask, Permit};
use futures::future::BoxFuture;

/// Whoever answers for the person: a pane, or a policy where nobody watches. Several questions may be open at
/// once.
pub trait Permits: Send + Sync {
    /// `None` where there will be no answer.
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Option<Permit>>;
}

/// The answers that an agent leaves open, each once and in our order.
pub fn choices(options: &[PermissionOption]) -> Vec<Permit> {
    let all = [Permit::Once, Permit::Always, Permit::Reject, Permit::RejectAlways];
    all.into_iter().filter(|permit| find(options, kind(*permit)).is_some()).collect()
}

/// The agent's option for an answer. One that it does not offer becomes a narrower one, never a wider.
pub fn response(options: &[PermissionOption], permit: Option<Permit>) -> RequestPermissionResponse {
    use Permit::{Always, Once, Reject, RejectAlways};
    let wanted: &[Permit] = match permit {
        Some(Once) => &[Once, Reject, RejectAlways],
        Some(Always) => &[Always, Once, Reject, RejectAlways],
        Some(Reject) => &[Reject, RejectAlways],
        Some(RejectAlways) => &[RejectAlways, Reject],
        None => &[],
    };
    let option = wanted.iter().find_map(|permit| find(options, kind(*permit)));
    RequestPermissionResponse::new(match option {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled,
    })
}

/// The last of a kind: where an agent offers to remember a permission in several places, the project comes first,
/// and what it writes there would be part of its work.
fn find(options: &[PermissionOption], kind: PermissionOptionKind) -> Option<&PermissionOption> {
    options.iter().rev().find(|option| option.kind == kind)
}

fn kind(permit: Permit) -> PermissionOptionKind {
    match permit {
        Permit::Once => PermissionOptionKind::AllowOnce,
        Permit::Always => PermissionOptionKind::AllowAlways,
        Permit::Reject => PermissionOptionKind::RejectOnce,
        Permit::RejectAlways => PermissionOptionKind::RejectAlways,
    }
}

#[cfg(test)]
mod tests {
    use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};

    use super::*;

    fn options(kinds: &[PermissionOptionKind]) -> Vec<PermissionOption> {
        let option = |(at, kind): (usize, &PermissionOptionKind)| {
            PermissionOption::new(format!("o{at}"), "a name that says nothing", *kind)
        };
        kinds.iter().enumerate().map(option).collect()
    }

    fn check(kinds: &[PermissionOptionKind], permit: Option<Permit>, expected: Option<&str>) {
        let outcome = response(&options(kinds), permit).outcome;
        let expected = match expected {
            Some(id) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.to_owned())),
            None => RequestPermissionOutcome::Cancelled,
        };
        assert_eq!(outcome, expected, "{kinds:?} {permit:?}");
    }

    #[test]
    fn an_answer_is_found_by_what_it_means_and_never_widened() {
        let all = [AllowAlways, AllowOnce, RejectOnce, RejectAlways];
        check(&all, Some(Permit::Once), Some("o1"));
        check(&all, Some(Permit::Always), Some("o0"));
        check(&all, Some(Permit::Reject), Some("o2"));
        check(&all, Some(Permit::RejectAlways), Some("o3"));
        check(&all, None, None);
        check(&[AllowOnce, RejectOnce], Some(Permit::Always), Some("o0"));
        check(&[AllowAlways, RejectOnce], Some(Permit::Once), Some("o1"));
        check(&[AllowAlways], Some(Permit::Once), None);
        check(&[AllowOnce, RejectAlways], Some(Permit::Reject), Some("o1"));
        check(&[AllowOnce], Some(Permit::Reject), None);
        check(&[AllowAlways, AllowAlways, AllowOnce], Some(Permit::Always), Some("o1"));
    }

    #[test]
    fn each_choice_is_offered_once() {
        let offered = choices(&options(&[RejectOnce, AllowAlways, AllowAlways, AllowOnce]));
        assert_eq!(offered, [Permit::Once, Permit::Always, Permit::Reject]);
    }
}
