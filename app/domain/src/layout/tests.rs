use std::collections::BTreeSet;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::Rejected;

fn chat(n: u32) -> Content {
    Content::Chat(ChatId(Uuid::from_u128(n.into())))
}

fn tab_in(pane: u32) -> Target {
    Target::Tab { pane: Some(PaneId(pane)) }
}

fn split(pane: u32, edge: Edge) -> Target {
    Target::Split { pane: PaneId(pane), edge }
}

impl Layout {
    fn after(mut self, inputs: impl IntoIterator<Item = Input>) -> Self {
        for input in inputs {
            let changes = self.decide(input).unwrap();
            changes.iter().for_each(|change| self.apply(change));
        }
        self
    }

    /// `[0:1,2* | 1:3* / 2:4*]`: panes with their tabs, the one in front starred, `|` beside, `/` below.
    fn drawn(&self) -> String {
        fn draw(node: &Node) -> String {
            match node {
                Node::Pane(pane) => {
                    let tab = |tab: &Tab| {
                        format!("{}{}", tab.number.0, if tab.number == pane.active { "*" } else { "" })
                    };
                    let tabs: Vec<_> = pane.tabs.iter().map(tab).collect();
                    format!("{}:{}", pane.id.0, tabs.join(","))
                }
                Node::Split(split) => {
                    let mark = if split.axis == Axis::Row { '|' } else { '/' };
                    format!("({} {mark} {})", draw(&split.first), draw(&split.second))
                }
            }
        }
        self.root.as_ref().map(draw).unwrap_or_default()
    }
}

fn check(inputs: impl IntoIterator<Item = Input>, expected: &str) {
    assert_eq!(Layout::default().after(inputs).drawn(), expected);
}

fn open(n: u32, target: Target) -> Input {
    Input::Open { content: chat(n), target }
}

const FIRST: Target = Target::Tab { pane: None };

#[test]
fn panes_open_as_tabs_and_beside_others() {
    check([open(1, FIRST)], "0:0*");
    check([open(1, FIRST), open(2, FIRST)], "0:0,1*");
    check([open(1, FIRST), open(2, split(0, Edge::Right))], "(0:0* | 1:1*)");
    check([open(1, FIRST), open(2, split(0, Edge::Left))], "(1:1* | 0:0*)");
    check(
        [open(1, FIRST), open(2, split(0, Edge::Right)), open(3, split(1, Edge::Bottom))],
        "(0:0* | (1:1* / 3:2*))",
    );
}

/// Somebody may be filling the launcher's form.
#[test]
fn what_is_made_elsewhere_leaves_the_launcher_as_it_is() {
    let launcher = Input::Open { content: Content::Orchestrator, target: FIRST };
    let made = |is_maker| {
        let (maker, content) = (Content::Orchestrator, Content::Run(RunId(Uuid::from_u128(9))));
        Input::Bind { maker, content, origin: Origin { is_maker, target: FIRST } }
    };
    let layout = |is_maker| Layout::default().after([launcher.clone(), made(is_maker)]);
    let contents = |layout: Layout| layout.tabs().map(|(_, tab)| tab.content).collect::<Vec<_>>();
    let run = Content::Run(RunId(Uuid::from_u128(9)));
    assert_eq!(contents(layout(true)), [run], "it takes the place of what it was made with");
    assert_eq!(contents(layout(false)), [Content::Orchestrator, run]);
    // A launcher that was closed meanwhile is not missed.
    check([made(true)], "0:0*");
}

#[test]
fn what_is_open_is_brought_to_the_front() {
    check([open(1, FIRST), open(2, FIRST), open(1, split(0, Edge::Right))], "0:0*,1");
    let settings = || Input::Open { content: Content::Settings, target: FIRST };
    check([settings(), open(1, FIRST), settings()], "0:0*,1");
}

#[test]
fn what_is_put_away_closes_and_is_still_known() {
    let layout = Layout::default().after([open(1, FIRST), open(2, FIRST), open(3, split(0, Edge::Right))]);
    let check = |content, expected: &str| {
        let mut after = layout.clone();
        layout.without(content).unwrap().iter().for_each(|change| after.apply(change));
        let known = |layout: &Layout| BTreeSet::from_iter(layout.contents());
        assert_eq!((after.drawn().as_str(), known(&after)), (expected, known(&layout)));
    };
    check(chat(1), "(0:1* | 1:2*)");
    check(chat(3), "0:0,1*");
    check(chat(9), "(0:0,1* | 1:2*)");
}

#[test]
fn a_pane_closes_with_its_last_tab() {
    let two = [open(1, FIRST), open(2, split(0, Edge::Right))];
    check(two.into_iter().chain([Input::CloseTab { tab: TabNumber(1) }]), "0:0*");
    check([open(1, FIRST), Input::ClosePane { pane: PaneId(0) }], "");
    check([open(1, FIRST), open(2, FIRST), Input::CloseTab { tab: TabNumber(1) }], "0:0*");
}

#[test]
fn numbers_are_never_reused() {
    let close = Input::CloseTab { tab: TabNumber(1) };
    check([open(1, FIRST), open(2, FIRST), close, open(3, FIRST)], "0:0,2*");
}

#[test]
fn tabs_move_between_panes_and_out_of_them() {
    let start = || [open(1, FIRST), open(2, FIRST), open(3, split(0, Edge::Right))];
    let mv = |tab, target, index| Input::MoveTab { tab: TabNumber(tab), target, index };
    check(start().into_iter().chain([mv(0, tab_in(1), Some(0))]), "(0:1* | 1:0*,2)");
    check(start().into_iter().chain([mv(0, tab_in(1), None)]), "(0:1* | 1:2,0*)");
    check(start().into_iter().chain([mv(1, tab_in(0), Some(0))]), "(0:1*,0 | 1:2*)");
    check(start().into_iter().chain([mv(2, tab_in(0), None)]), "0:0,1,2*");
    // In its own pane it stays where it is, until a place is named.
    check(start().into_iter().chain([mv(0, tab_in(0), None)]), "(0:0,1* | 1:2*)");
    check(start().into_iter().chain([mv(0, tab_in(0), Some(1))]), "(0:1,0* | 1:2*)");
    check(start().into_iter().chain([mv(1, split(1, Edge::Bottom), None)]), "(0:0* | (1:2* / 3:1*))");
    // The only tab of a pane takes its pane along.
    check(start().into_iter().chain([mv(2, split(0, Edge::Top), None)]), "(1:2* / 0:0,1*)");
}

#[test]
fn panes_move_beside_others() {
    let three = [open(1, FIRST), open(2, split(0, Edge::Right)), open(3, split(1, Edge::Bottom))];
    let mv = Input::MovePane { pane: PaneId(0), beside: PaneId(3), edge: Edge::Left };
    check(three.into_iter().chain([mv]), "(1:1* / (0:0* | 3:2*))");
}

#[test]
fn the_focus_moves_as_the_panes_lie() {
    let layout = Layout::default().after([
        open(1, FIRST),
        open(2, split(0, Edge::Right)),
        open(3, split(1, Edge::Bottom)),
        Input::Resize { split: SplitId(4), share: 700 },
    ]);
    let check = |from, direction, to: Option<u32>| {
        assert_eq!(layout.neighbour(PaneId(from), direction), to.map(PaneId), "{from} {direction:?}");
    };
    check(0, Direction::Right, Some(1));
    check(0, Direction::Left, None);
    check(1, Direction::Down, Some(3));
    check(3, Direction::Up, Some(1));
    check(3, Direction::Left, Some(0));
    check(3, Direction::Right, None);
    let lines: Vec<_> = layout.dividers().iter().map(|line| (line.split.0, line.axis, line.line)).collect();
    let rect = |left, top, width, height| Rect { left, top, width, height };
    assert_eq!(
        lines,
        [
            (2, Axis::Row, rect(500_000, 0, 0, 1_000_000)),
            (4, Axis::Column, rect(500_000, 700_000, 500_000, 0)),
        ]
    );
}

#[test]
fn refusals_are_in_words() {
    let layout = Layout::default().after([open(1, FIRST)]);
    let check = |input, expected: Rejected| assert_eq!(layout.decide(input).unwrap_err(), expected);
    check(Input::ClosePane { pane: PaneId(7) }, Rejected::missing("pane"));
    check(Input::Activate { tab: TabNumber(7) }, Rejected::missing("tab"));
    check(Input::Resize { split: SplitId(7), share: 500 }, Rejected::missing("divider"));
    check(Input::Reopen, Rejected::Invalid("Nothing was closed lately.".into()));
    let full = (1..PANES_MAX as u32).fold(layout, |layout, n| {
        let last = layout.panes().last().unwrap().id.0;
        layout.after([open(n + 1, split(last, Edge::Right))])
    });
    let refused = full.decide(open(99, split(0, Edge::Right))).unwrap_err();
    assert_eq!(refused, Rejected::Invalid("At most 12 panes fit. Close one first.".into()));
}

#[test]
fn a_page_shows_what_its_address_names() {
    let layout = Layout::default().after([open(1, FIRST), open(2, split(0, Edge::Right))]);
    assert_eq!(layout.showing(chat(3), Some(PaneId(1))).drawn(), "(0:0* | 1:1,2*)");
    assert_eq!(layout.showing(chat(3), Some(PaneId(9))).drawn(), "(0:0,2* | 1:1*)");
    assert_eq!(layout.showing(chat(2), None).drawn(), "(0:0* | 1:1*)");
    assert_eq!(Layout::default().showing(chat(1), None).drawn(), "0:0*");
}

#[test]
fn what_reopens_is_what_was_closed_last() {
    let check = |inputs: Vec<Input>, expected: Option<Content>| {
        let layout = Layout::default().after(inputs);
        assert_eq!(layout.reopens(), expected);
        if let Some(content) = expected {
            assert!(layout.after([Input::Reopen]).visible().contains(&content));
        }
    };
    let close = |tab| Input::CloseTab { tab: TabNumber(tab) };
    check(vec![open(1, FIRST)], None);
    check(vec![open(1, FIRST), open(2, FIRST), close(0)], Some(chat(1)));
    check(vec![open(1, FIRST), open(2, split(0, Edge::Right)), close(0), close(1)], Some(chat(2)));
    let of_two = vec![open(1, FIRST), open(2, FIRST), open(1, FIRST), Input::ClosePane { pane: PaneId(0) }];
    check(of_two, Some(chat(1)));
}

#[test]
fn the_last_ten_that_were_closed_come_back_in_order() {
    let tabs = || (0..14).map(|n| open(n, FIRST));
    let closes = (0..13).map(|tab| Input::CloseTab { tab: TabNumber(tab) });
    let mut layout = Layout::default().after(tabs().chain(closes));
    for n in (3..13).rev() {
        assert_eq!(layout.reopens(), Some(chat(n)));
        layout = layout.after([Input::Reopen]);
    }
    assert_eq!(layout.decide(Input::Reopen), Err(Rejected::Invalid("Nothing was closed lately.".into())));
    assert_eq!(layout.drawn(), "0:3*,4,5,6,7,8,9,10,11,12,13");
}

/// As many tabs as a session holds, from number 0 on, in one pane.
fn full() -> Layout {
    Layout::default().after((0..TABS_MAX as u32).map(|n| open(1000 + n, FIRST)))
}

#[test]
fn another_tab_takes_the_place_of_the_oldest_that_is_not_in_front() {
    let count = |layout: &Layout| layout.tabs().count();
    let is_open = |layout: &Layout, n| layout.find(chat(n)).is_some();
    let more = full().after([open(1, FIRST)]);
    assert_eq!(count(&more), TABS_MAX);
    assert!(is_open(&more, 1) && !is_open(&more, 1000) && is_open(&more, 1001));
    // It can be reopened, and then the next one goes.
    let back = more.after([Input::Reopen]);
    assert_eq!(count(&back), TABS_MAX);
    assert!(is_open(&back, 1000) && is_open(&back, 1) && !is_open(&back, 1001));
    // What is in front stays, however old it is.
    let beside = full().after([Input::Activate { tab: TabNumber(0) }, open(1, split(0, Edge::Right))]);
    assert!(is_open(&beside, 1000) && is_open(&beside, 1) && !is_open(&beside, 1001));
    // A pane comes back with all of its tabs.
    let mv = |tab| Input::MoveTab { tab: TabNumber(tab), target: tab_in(1), index: None };
    let split_off = Input::MoveTab { tab: TabNumber(50), target: split(0, Edge::Right), index: None };
    let two = full().after([split_off, mv(51), mv(52)]);
    let filled = two.after([Input::ClosePane { pane: PaneId(1) }]).after((1..4).map(|n| open(n, FIRST)));
    let back = filled.after([Input::Reopen]);
    assert_eq!(count(&back), TABS_MAX);
    assert!((1050..1053).all(|n| is_open(&back, n)) && (1..4).all(|n| is_open(&back, n)));
    assert!((1000..1003).all(|n| !is_open(&back, n)));
}

#[test]
fn a_pane_comes_back_only_if_all_that_closes_for_it_can_come_back_too() {
    let others = |count| (0..count).map(|n| open(n, FIRST));
    let closed = |count| full().after([Input::ClosePane { pane: PaneId(0) }]).after(others(count));
    let crowded = closed(CLOSED_MAX as u32 + 1);
    let Err(Rejected::Invalid(why)) = crowded.decide(Input::Reopen) else { panic!("{crowded:?}") };
    assert!(why.contains("Close some first"), "{why}");
    let back = closed(CLOSED_MAX as u32).after([Input::Reopen]);
    assert_eq!((back.tabs().count(), back.closed.len()), (TABS_MAX, CLOSED_MAX));
}

/// Something that could be asked, sensible or not.
fn any_input() -> impl Strategy<Value = Input> {
    let edge = prop_oneof![Just(Edge::Left), Just(Edge::Right), Just(Edge::Top), Just(Edge::Bottom)];
    let pane = || (0u32..40).prop_map(PaneId);
    let tab = || (0u32..90).prop_map(TabNumber);
    let content = || prop_oneof![8 => (0u32..24).prop_map(chat), 1 => Just(Content::Settings), 1 => Just(Content::Arena)];
    let target = prop_oneof![
        prop::option::of(pane()).prop_map(|pane| Target::Tab { pane }),
        (pane(), edge.clone()).prop_map(|(pane, edge)| Target::Split { pane, edge }),
    ];
    prop_oneof![
        6 => (content(), target.clone()).prop_map(|(content, target)| Input::Open { content, target }),
        2 => (content(), content(), any::<bool>(), target.clone()).prop_map(|(maker, content, is_maker, target)| {
            Input::Bind { maker, content, origin: Origin { is_maker, target } }
        }),
        1 => pane().prop_map(|pane| Input::ClosePane { pane }),
        2 => tab().prop_map(|tab| Input::CloseTab { tab }),
        2 => Just(Input::Reopen),
        1 => tab().prop_map(|tab| Input::Activate { tab }),
        1 => ((0u32..40).prop_map(SplitId), any::<u16>())
            .prop_map(|(split, share)| Input::Resize { split, share }),
        2 => (pane(), pane(), edge).prop_map(|(pane, beside, edge)| Input::MovePane { pane, beside, edge }),
        2 => (tab(), target, prop::option::of(0usize..5))
            .prop_map(|(tab, target, index)| Input::MoveTab { tab, target, index }),
    ]
}

fn contents(layout: &Layout) -> BTreeSet<Content> {
    layout.tabs().map(|(_, tab)| tab.content).collect()
}

fn assert_sound(layout: &Layout) {
    let panes = layout.panes();
    assert!(panes.len() <= PANES_MAX && layout.closed.len() <= CLOSED_MAX);
    assert!(layout.tabs().count() <= TABS_MAX);
    assert!(panes.iter().all(|pane| pane.active_tab().is_some()), "a pane has a tab in front: {layout:?}");
    let ids: BTreeSet<_> = panes.iter().map(|pane| pane.id).collect();
    assert_eq!(ids.len(), panes.len(), "a pane is there once: {layout:?}");
    let numbers: BTreeSet<_> = layout.tabs().map(|(_, tab)| tab.number).collect();
    assert_eq!(numbers.len(), layout.tabs().count(), "a number is given once: {layout:?}");
    assert_eq!(contents(layout).len(), layout.tabs().count(), "a content is open once: {layout:?}");
    fn splits(node: &Node, ids: &mut Vec<SplitId>) {
        if let Node::Split(split) = node {
            assert!((SHARE_MIN..=SHARE_MAX).contains(&split.share));
            ids.push(split.id);
            splits(&split.first, ids);
            splits(&split.second, ids);
        }
    }
    let mut names = Vec::new();
    layout.root.iter().for_each(|root| splits(root, &mut names));
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "a split is there once: {layout:?}");
}

proptest! {
    #[test]
    fn no_operation_loses_a_pane(
        is_full in any::<bool>(),
        inputs in prop::collection::vec(any_input(), 1..60),
    ) {
        let mut layout = if is_full { full() } else { Layout::default() };
        let mut given: BTreeSet<_> = layout.tabs().map(|(_, tab)| tab.number).collect();
        for input in inputs {
            let Ok(changes) = layout.decide(input.clone()) else { continue };
            let before = layout.clone();
            changes.iter().for_each(|change| layout.apply(change));
            assert_sound(&layout);
            let (was, is) = (contents(&before), contents(&layout));
            let mut crowded = before.clone();
            changes.iter().take(1).for_each(|change| crowded.apply(change));
            // What made room for another is among what can be reopened.
            let made_room: BTreeSet<_> = changes[changes.len().min(1)..]
                .iter()
                .map(|change| match change {
                    Change::TabClosed { tab } => crowded.tab(*tab).unwrap().1.content,
                    other => panic!("{other:?} makes no room"),
                })
                .collect();
            prop_assert!(made_room.is_empty() || is.len() == TABS_MAX);
            let is: BTreeSet<_> = is.union(&made_room).copied().collect();
            for content in &made_room {
                let is_it = |closed: &Closed| matches!(closed, Closed::Tab { tab, .. } if tab.content == *content);
                prop_assert!(layout.closed.iter().any(is_it));
            }
            match input {
                Input::ClosePane { .. } | Input::CloseTab { .. } => {
                    prop_assert!(is.is_subset(&was) && is.len() < was.len());
                    // What was closed comes back as it was, divider and all.
                    let mut back = layout.clone();
                    back.decide(Input::Reopen).unwrap().iter().for_each(|change| back.apply(change));
                    let active = before.tabs().find(|(_, tab)| !is.contains(&tab.content)).map(|(pane, _)| pane.id);
                    let same = |layout: &Layout| {
                        let mut layout = layout.clone();
                        // A tab that comes back is in front.
                        if let Some(pane) = active.and_then(|id| layout.root.as_mut()?.pane_mut(id)) {
                            pane.active = TabNumber(0);
                        }
                        layout.root
                    };
                    prop_assert_eq!(same(&back), same(&before));
                }
                Input::Open { content, .. } => {
                    let mut expected = was;
                    expected.insert(content);
                    prop_assert_eq!(is, expected);
                }
                Input::Bind { maker, content, origin } => {
                    let mut expected = was.clone();
                    if origin.is_maker && was.contains(&maker) && !was.contains(&content) {
                        expected.remove(&maker);
                    }
                    expected.insert(content);
                    prop_assert_eq!(is, expected);
                }
                Input::Reopen => prop_assert!(was.is_subset(&is)),
                _ => prop_assert_eq!(was, is),
            }
            for change in &changes {
                if let Change::PaneOpened { tab, .. } | Change::TabOpened { tab, .. } = change {
                    prop_assert!(given.insert(tab.number), "{} was given before", tab.number.0);
                }
            }
            let json = serde_json::to_string(&layout).unwrap();
            prop_assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), layout.clone());
        }
    }

    /// An event may meet a layout that it was not decided on.
    #[test]
    fn applying_is_total(inputs in prop::collection::vec(any_input(), 1..40), skip in 0usize..40) {
        let (mut whole, mut partial) = (Layout::default(), Layout::default());
        for (place, input) in inputs.into_iter().enumerate() {
            let Ok(changes) = whole.decide(input) else { continue };
            for change in &changes {
                whole.apply(change);
                if place != skip {
                    partial.apply(change);
                }
            }
        }
        prop_assert!(partial.panes().iter().all(|pane| !pane.tabs.is_empty()));
    }
}
