//! What a line of code tells, by the words in its names: `getAuthToken` and `auth_token` both speak of a token.

use super::Signal::{self, Concurrency, Data, Devops, Resilience, Seam, Security};

const WORD_BYTES_MAX: usize = 16;

/// In the order of the alphabet, to be searched in halves.
const WORDS: [(&str, &[Signal]); 119] = [
    ("acl", &[Security]),
    ("activerecord", &[Data]),
    ("amqp", &[Seam]),
    ("argon2", &[Security]),
    ("async", &[Concurrency]),
    ("asyncio", &[Concurrency]),
    ("atomic", &[Concurrency]),
    ("auth", &[Security]),
    ("authenticate", &[Security]),
    ("authentication", &[Security]),
    ("authorization", &[Security]),
    ("authorize", &[Security]),
    ("authorized", &[Security]),
    ("await", &[Concurrency]),
    ("axios", &[Resilience]),
    ("backoff", &[Resilience]),
    ("bcrypt", &[Security]),
    ("birthday", &[Security]),
    ("breaker", &[Resilience]),
    ("broker", &[Seam]),
    ("celery", &[Concurrency, Seam]),
    ("certificate", &[Security]),
    ("chan", &[Concurrency]),
    ("channel", &[Concurrency]),
    ("cipher", &[Security]),
    ("concurrent", &[Concurrency]),
    ("condvar", &[Concurrency]),
    ("cookie", &[Security]),
    ("coroutine", &[Concurrency]),
    ("credential", &[Security]),
    ("credentials", &[Security]),
    ("crypto", &[Security]),
    ("csrf", &[Security]),
    ("datadog", &[Devops]),
    ("deadline", &[Resilience]),
    ("deadlock", &[Concurrency]),
    ("decrypt", &[Security]),
    ("diesel", &[Data]),
    ("email", &[Security]),
    ("encrypt", &[Security]),
    ("executor", &[Concurrency]),
    ("fetch", &[Resilience]),
    ("gorm", &[Data]),
    ("goroutine", &[Concurrency]),
    ("grafana", &[Devops]),
    ("grpc", &[Seam, Resilience]),
    ("hibernate", &[Data]),
    ("hmac", &[Security]),
    ("httpclient", &[Resilience]),
    ("httpx", &[Resilience]),
    ("iban", &[Security]),
    ("jdbc", &[Data]),
    ("jwt", &[Security]),
    ("kafka", &[Seam]),
    ("kafkajs", &[Seam]),
    ("knex", &[Data]),
    ("lock", &[Concurrency]),
    ("login", &[Security]),
    ("metrics", &[Devops]),
    ("migration", &[Data]),
    ("migrations", &[Data]),
    ("mongoose", &[Data]),
    ("mpsc", &[Concurrency]),
    ("mqtt", &[Seam]),
    ("multiprocessing", &[Concurrency]),
    ("mutex", &[Concurrency]),
    ("mysql", &[Data]),
    ("nats", &[Seam]),
    ("oauth", &[Security]),
    ("openssl", &[Security]),
    ("opentelemetry", &[Devops]),
    ("passphrase", &[Security]),
    ("passwd", &[Security]),
    ("password", &[Security]),
    ("permission", &[Security]),
    ("permissions", &[Security]),
    ("pgx", &[Data]),
    ("postgres", &[Data]),
    ("prisma", &[Data]),
    ("prometheus", &[Devops]),
    ("protobuf", &[Seam]),
    ("psycopg", &[Data]),
    ("pubsub", &[Seam]),
    ("queue", &[Concurrency, Resilience]),
    ("rabbitmq", &[Seam]),
    ("rayon", &[Concurrency]),
    ("redis", &[Seam]),
    ("reqwest", &[Resilience]),
    ("retries", &[Resilience]),
    ("retry", &[Resilience]),
    ("rpc", &[Seam]),
    ("rusqlite", &[Data]),
    ("secret", &[Security]),
    ("secrets", &[Security]),
    ("semaphore", &[Concurrency]),
    ("sentry", &[Devops]),
    ("sequelize", &[Data]),
    ("session", &[Security]),
    ("spawn", &[Concurrency]),
    ("sqlalchemy", &[Data]),
    ("sqlite", &[Data]),
    ("sqlite3", &[Data]),
    ("sqlx", &[Data]),
    ("sqs", &[Seam]),
    ("ssn", &[Security]),
    ("synchronized", &[Concurrency]),
    ("thread", &[Concurrency]),
    ("threading", &[Concurrency]),
    ("threads", &[Concurrency]),
    ("thrift", &[Seam]),
    ("timeout", &[Resilience]),
    ("token", &[Security]),
    ("tokio", &[Concurrency]),
    ("tonic", &[Seam, Resilience]),
    ("typeorm", &[Data]),
    ("urllib", &[Resilience]),
    ("webhook", &[Seam, Resilience]),
    ("websocket", &[Seam]),
    ("worker", &[Concurrency]),
];

/// Marks of a text that is put together from other values.
const JOINED: [&str; 8] = ["format!(", "${", "#{", "%s", ".format(", "f\"", "\" +", "' +"];

/// Calls `note` for each signal in the line, perhaps several times for the same.
pub(super) fn each_signal(line: &str, mut note: impl FnMut(Signal)) {
    let mut sql = Sql::default();
    each_word(line.as_bytes(), |word| {
        sql.word(word);
        if let Ok(at) = WORDS.binary_search_by(|(known, _)| known.as_bytes().cmp(word)) {
            WORDS[at].1.iter().for_each(|signal| note(*signal));
        }
    });
    if sql.is_statement {
        note(Data);
        if JOINED.iter().any(|mark| line.contains(mark)) {
            note(Security);
        }
    }
}

/// Whether the words of a line, in their order, are those of a statement.
#[derive(Default)]
struct Sql {
    verb: Option<&'static [u8]>,
    is_statement: bool,
}

impl Sql {
    fn word(&mut self, word: &[u8]) {
        let follows: &[(&[u8], &[u8])] = &[
            (b"select", b"from"),
            (b"insert", b"into"),
            (b"delete", b"from"),
            (b"update", b"set"),
            (b"create", b"table"),
            (b"alter", b"table"),
        ];
        self.is_statement |= follows.iter().any(|(verb, then)| self.verb == Some(verb) && *then == word);
        if let Some((verb, _)) = follows.iter().find(|(verb, _)| *verb == word) {
            self.verb = Some(verb);
        }
    }
}

/// The words of all names in a line, in small letters. Longer ones than any that is known are passed over.
fn each_word(line: &[u8], mut take: impl FnMut(&[u8])) {
    let mut word = [0u8; WORD_BYTES_MAX];
    let mut length = 0;
    let mut before = b' ';
    for byte in line.iter().copied().chain([b' ']) {
        let is_part = byte.is_ascii_alphanumeric();
        if !is_part || (byte.is_ascii_uppercase() && before.is_ascii_lowercase()) {
            if (1..=WORD_BYTES_MAX).contains(&length) {
                take(&word[..length]);
            }
            length = 0;
        }
        if is_part {
            if let Some(place) = word.get_mut(length) {
                *place = byte.to_ascii_lowercase();
            }
            length += 1;
        }
        before = byte;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_can_be_searched_in_halves() {
        assert!(WORDS.windows(2).all(|pair| pair[0].0 < pair[1].0), "{:?}", {
            WORDS.windows(2).find(|pair| pair[0].0 >= pair[1].0)
        });
        assert!(WORDS.iter().all(|(word, _)| word.len() <= WORD_BYTES_MAX));
    }

    #[test]
    fn names_are_taken_apart() {
        let check = |line: &str, expected: &str| {
            let mut words = Vec::new();
            each_word(line.as_bytes(), |word| words.push(String::from_utf8_lossy(word).into_owned()));
            assert_eq!(words.join(" "), expected, "{line}");
        };
        check("getAuthToken(user_id)", "get auth token user id");
        check("RwLock<HashMap>", "rw lock hash map");
        check("argon2::hash", "argon2 hash");
        check("", "");
        check("größe über", "gr e ber");
        check("averyveryverylongname x", "x");
    }
}
