//! The contract of [`store::Store`]: one body of stories, told on every engine.
//!
//! The behaviours that the Kubernetes storage suite names, and where ours are:
//!
//! | Kubernetes | here |
//! | --- | --- |
//! | Create, CreateWithKeyExist, Get | `writes` |
//! | UnconditionalDelete, ConditionalDelete, DeleteWithConflict, PreconditionalDelete… | `deletes` |
//! | GuaranteedUpdate, …ChecksStoredData, …WithConflict | `updates` |
//! | GuaranteedUpdateWithTTL, CreateWithTTL | `expiry` |
//! | List, ConsistentList, GetListNonRecursive, GetListRecursivePrefix, NamespaceScopedList, Stats, KeySchema | `reads` |
//! | ListContinuation, …WithFilter, ListPaginationRareObject, ListInconsistentContinuation, ListPaging, ListResourceVersionMatch | `paging` |
//! | TransformationFailure | `sealing` |
//! | CompactRevision | `compaction` |
//! | Watch, WatchFromZero, WatchFromNonZero, DeleteTriggerWatch, WatchDeleteEventObjectHaveLatestRV, DelayedWatchDelivery, WatchContextCancel, WatcherTimeout, ClusterScopedWatch, NamespaceScopedWatch | `watch` |
//! | WatchError | `watch_resumed` (gone and closed: the store's watch can fail in no other way) |
//! | WatchInitializationSignal, WatchDispatchBookmarkEvents, OptionalWatchBookmarksWithCorrectResourceVersion | `watch`, as `Watch::position`: the caller makes the bookmark |
//! | DeleteWithSuggestion…, GuaranteedUpdateWithSuggestionAndConflict | not here: there is no cached object to suggest; `transact` reads what is at hand first and makes sure of it before it says no (`updates`) |
//! | ValidateDeletion… | not here: a decision of `transact` is where a deletion is validated (`updates`) |
//! | WatchWithUnsafeDelete | not here: the store deletes what it can't open like anything else (`sealing`); "unsafe" is a word of the server's API |

#[cfg(test)]
mod contract {
    #[macro_use]
    mod fixture;
    mod words;

    mod backup;
    mod compaction;
    mod contention;
    mod deletes;
    mod expiry;
    mod format;
    mod history;
    mod hostile;
    mod leases;
    mod levels;
    mod lives;
    mod paging;
    mod past;
    mod reads;
    mod retention;
    mod sealing;
    mod sizes;
    mod tampering;
    mod terms;
    mod transactions;
    mod updates;
    mod verify;
    mod watch;
    mod watch_crowd;
    mod watch_overflow;
    mod watch_resumed;
    mod writes;
}
