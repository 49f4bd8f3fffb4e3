#![no_main]

use bosun_providers::{Family, fuzzing};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(law) = fuzzing::reply(Family::OpenAiChat, bytes) {
        panic!("{law}");
    }
});
