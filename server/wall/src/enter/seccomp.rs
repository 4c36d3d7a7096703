//! The system calls that walk around Landlock's ports, and the devices of the kernel that nobody needs.

use std::collections::BTreeMap;

#[cfg(target_arch = "x86_64")]
use seccompiler::sock_filter;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use super::{Failure, Naming};

const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// Where the kernel tells a filter the number of a call.
#[cfg(target_arch = "x86_64")]
const NUMBER_AT: u32 = std::mem::offset_of!(libc::seccomp_data, nr) as u32;
/// The kind of a socket is in these bits; above them are flags.
const KINDS: u64 = 0xf;

pub fn enforce() -> Result<(), Failure> {
    let program = filter().naming("seccomp")?;
    #[cfg(target_arch = "x86_64")]
    apply_filter(&other_numbers()).naming("seccomp")?;
    apply_filter(&program).naming("seccomp")
}

/// Refuses every call of the 32-bit form that shares this architecture's name: there the same calls have other
/// numbers, all with one bit in common. Nothing uses it, and few kernels have it.
#[cfg(target_arch = "x86_64")]
fn other_numbers() -> [sock_filter; 4] {
    const BIT: u32 = 0x4000_0000;
    let does = |code: u32, jf: u8, k: u32| sock_filter { code: code as u16, jt: 0, jf, k };
    [
        does(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, NUMBER_AT),
        does(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 1, BIT),
        does(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned()),
        does(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// A call that matches one of its rules is refused; a call without rules always.
fn filter() -> Result<BpfProgram, Error> {
    let fast_open = |argument: u8| -> Result<_, Error> {
        let flag = u64::from(libc::MSG_FASTOPEN.cast_unsigned());
        Ok(vec![rule(&[(argument, SeccompCmpOp::MaskedEq(flag), flag)])?])
    };
    let calls = [
        (libc::SYS_socket, sockets()?),
        (libc::SYS_sendto, fast_open(3)?),
        (libc::SYS_sendmsg, fast_open(2)?),
        (libc::SYS_sendmmsg, fast_open(3)?),
        (libc::SYS_io_uring_setup, Vec::new()),
        (libc::SYS_io_uring_enter, Vec::new()),
        (libc::SYS_io_uring_register, Vec::new()),
    ];
    let rules = BTreeMap::from(calls);
    let errno = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let architecture = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, errno, architecture)?.try_into()?)
}

fn sockets() -> Result<Vec<SeccompRule>, Error> {
    let number = |value: i32| u64::from(value.cast_unsigned());
    let foreign = FAMILIES.map(|family| (0, SeccompCmpOp::Ne, number(family)));
    let mut rules = vec![rule(&foreign)?];
    for family in [libc::AF_INET, libc::AF_INET6].map(|family| (0, SeccompCmpOp::Eq, number(family))) {
        for kind in (0..=KINDS).filter(|kind| *kind != number(libc::SOCK_STREAM)) {
            rules.push(rule(&[family.clone(), (1, SeccompCmpOp::MaskedEq(KINDS), kind)])?);
        }
        // Streams that are not TCP are not under Landlock's rules for TCP.
        let not_tcp = [0, libc::IPPROTO_TCP].map(|protocol| (2, SeccompCmpOp::Ne, number(protocol)));
        rules.push(rule(&[&[family], not_tcp.as_slice()].concat())?);
    }
    Ok(rules)
}

fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, Error> {
    let condition = |(argument, op, value): &(u8, SeccompCmpOp, u64)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, op.clone(), *value)
    };
    Ok(SeccompRule::new(conditions.iter().map(condition).collect::<Result<_, _>>()?)?)
}
