use std::num::NonZeroU32;

/// A line of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(NonZeroU32);

impl LineId {
    pub(super) fn new(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Names a file. `old` is its number.
    File,
    /// Says why there is nothing to see.
    Notice,
    /// What is left out between two hunks. `old` is the number of the gap, `new` how many lines it hides, or 0
    /// where nobody knows yet.
    Fold,
    Context,
    Removed,
    Added,
    /// In the split view: removed on the left, added on the right.
    Changed,
}

/// One line of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub kind: Kind,
    /// Which piece of a line that goes on in more rows.
    pub part: u16,
    /// Line numbers, from 1; 0 where there is none.
    pub old: u32,
    pub new: u32,
    /// The lines of the patch that it shows. Neither is there for what the patch left out.
    pub left: Option<LineId>,
    pub right: Option<LineId>,
    /// The line of the other side whose words it is compared with.
    pub pair: Option<LineId>,
}

impl Kind {
    pub fn is_change(self) -> bool {
        matches!(self, Self::Removed | Self::Added | Self::Changed)
    }

    pub fn is_code(self) -> bool {
        self.is_change() || self == Self::Context
    }

    pub(super) fn sign(self) -> char {
        match self {
            Self::File => '#',
            Self::Notice => '!',
            Self::Fold => '@',
            Self::Context => ' ',
            Self::Removed => '-',
            Self::Added => '+',
            Self::Changed => '~',
        }
    }

    pub(super) fn of_sign(sign: u8) -> Option<Self> {
        Some(match sign {
            b'#' => Self::File,
            b'!' => Self::Notice,
            b'@' => Self::Fold,
            b' ' => Self::Context,
            b'-' => Self::Removed,
            b'+' => Self::Added,
            b'~' => Self::Changed,
            _ => return None,
        })
    }
}
