//! Many decisions in one call.

use wasm_bindgen::prelude::wasm_bindgen;

use super::core::{Core, float, number, positive, time};
use super::scratch;

#[wasm_bindgen]
impl Core {
    /// `GCRA.LIMIT` on each of the first `keys` keys in the batch buffer, all at `now`. The columns get
    /// remaining, `retry_after_ms`, `reset_after_ms`, and whether it was denied, of each key. Returns how many were
    /// decided: fewer than `keys` when one failed, and `takeError` says why.
    #[wasm_bindgen(js_name = gcraLimitMany)]
    pub fn gcra_limit_many(&mut self, now: f64, keys: usize, period: f64, burst: f64, count: f64) -> usize {
        let arguments = || Ok([positive("period", period)?, positive("burst", burst)?, positive("count", count)?]);
        let [period, burst, count] = match arguments() {
            Ok(arguments) => arguments,
            Err(error) => {
                self.fail(error);
                return 0;
            }
        };
        let now = time(now);
        let (mut bytes, lengths) = scratch::keys();
        for (index, length) in lengths.iter().take(keys).enumerate() {
            let Some((key, rest)) = usize::try_from(*length).ok().and_then(|length| bytes.split_at_checked(length))
            else {
                return index;
            };
            bytes = rest;
            match self.engine.gcra_limit(now, key, period, burst, count) {
                Ok(decision) => {
                    let [remaining, reset_after] = [decision.remaining, decision.reset_after].map(float);
                    let retry = number(decision.retry, -1.0);
                    scratch::answer_in_batch(
                        index,
                        [remaining, retry, reset_after, f64::from(u8::from(decision.denied))],
                    );
                }
                Err(error) => {
                    self.fail(error);
                    return index;
                }
            }
        }
        keys.min(lengths.len())
    }
}
