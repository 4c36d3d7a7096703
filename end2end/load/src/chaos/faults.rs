//! What went wrong, by kind. Nothing of any kind may.

const SHOWN_MAX: usize = 20;

#[derive(Default)]
pub struct Faults {
    pub lost: Vec<String>,
    pub double: Vec<String>,
    /// What ended with a reason instead of a result, although no model or model server is to blame for anything.
    pub failed: Vec<String>,
    /// Processes and folders that outlived whom they belong to.
    pub orphans: Vec<String>,
}

impl Faults {
    fn kinds(&self) -> [(&'static str, &Vec<String>); 4] {
        let Self { lost, double, failed, orphans } = self;
        [("lost", lost), ("double", double), ("failed", failed), ("orphan", orphans)]
    }

    pub fn is_empty(&self) -> bool {
        self.kinds().iter().all(|(_, faults)| faults.is_empty())
    }

    pub fn counted(&self) -> String {
        let Self { lost, double, failed, orphans } = self;
        format!(
            "{} failed with a reason · {} lost · {} double · {} orphans",
            failed.len(),
            lost.len(),
            double.len(),
            orphans.len()
        )
    }

    /// The first of them, one a line.
    pub fn words(&self) -> String {
        let kinds = self.kinds();
        let all = kinds
            .iter()
            .flat_map(|(kind, faults)| faults.iter().map(move |fault| format!("{kind}: {fault}")));
        all.take(SHOWN_MAX).collect::<Vec<_>>().join("\n")
    }
}
