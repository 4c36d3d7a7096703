//! Which of Landlock's versions a kernel has, as far as the wall cares.

use serde::{Deserialize, Serialize};

use crate::sys;

/// The last one whose rules the wall uses; later ones add nothing that it needs.
pub const COMPLETE: LandlockAbi = LandlockAbi(6);

/// 0 is a kernel without Landlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LandlockAbi(pub u8);

impl LandlockAbi {
    pub fn of_this_kernel() -> Self {
        Self(sys::landlock_version().unwrap_or(0)).min(COMPLETE)
    }

    /// Before, a file that may not be written could still be emptied.
    pub fn guards_truncation(self) -> bool {
        self >= Self(3)
    }

    pub fn guards_ports(self) -> bool {
        self >= Self(4)
    }

    pub fn guards_signals(self) -> bool {
        self >= Self(6)
    }
}
