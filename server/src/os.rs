//! Who we are to the operating system, and who else there is to be.

use std::io;

/// A line of `/etc/passwd`, as far as running a program under it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The accounts for programs that refuse to run as root, best first: Postgres's own owns nothing else.
pub fn unprivileged_accounts() -> io::Result<Vec<Account>> {
    // System accounts are local, so the file is enough and no name service has to be asked.
    let passwd = std::fs::read_to_string("/etc/passwd")?;
    Ok(["postgres", "nobody"].iter().filter_map(|name| account_in(&passwd, name)).collect())
}

fn account_in(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account { name: name.to_owned(), uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(passwd: &str, name: &str, expected: Option<(u32, u32)>) {
        assert_eq!(account_in(passwd, name).map(|found| (found.uid, found.gid)), expected, "{passwd:?}");
    }

    #[test]
    fn accounts_are_read_from_passwd() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65533::/:/bin/false\n";
        check(passwd, "nobody", Some((65534, 65533)));
        check(passwd, "postgres", None);
        check(passwd, "no", None);
        check("postgres:x:one:2::/:\n", "postgres", None);
        check("postgres:x:1", "postgres", None);
        check("", "postgres", None);
    }
}
