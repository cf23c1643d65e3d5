//! Other people's client libraries, compiled, against the running server. The stories are in `tests`.
