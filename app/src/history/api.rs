//! What the page shows, for an address.

use domain::{
    feed::Snapshot,
    history::{Fault, Filter, Listing},
    page::{Page, Wanted},
};
use store::Db;

use crate::error::AppError;

pub struct Shown {
    pub filter: Filter,
    pub faults: Vec<Fault>,
    pub listing: Listing,
    /// For the sidebar, and for the names of what can be chosen.
    pub snapshot: Snapshot<Page>,
}

pub async fn show(db: &Db, query: &str) -> Result<Shown, AppError> {
    let snapshot = store::snapshot::page(db, Wanted::Start, &[]).await?;
    let (mut filter, mut faults) = Filter::parse(query);
    faults.extend(filter.keep_known(&snapshot.state.workspace));
    let listing = store::history::list(db, &filter).await?;
    Ok(Shown { filter, faults, listing, snapshot })
}
