//! Single objects.

use testbed::bench::Outcome;
use testbed::bench::report::Table;

use crate::crowd::{Until, crowd};
use crate::objects::path;
use crate::options::Options;
use crate::subject::Subject;
use crate::{peer, table};

pub fn measure(subject: &Subject, options: &Options) -> Outcome<Table> {
    let mut table = table::operations("reads", "Gets of random objects");
    let objects = options.objects();
    for (operation, clients, peer) in
        [("get, 1 client", 1, peer::GET_1), ("get, 16 clients", 16, peer::GET_16)]
    {
        let mut measured =
            crowd(subject, clients, Until::Passed(options.time()), |connection, _, random| {
                connection.get(&path(random.below(objects))).map(drop)
            })?;
        table.row(table::row(operation, &mut measured, peer, objects >= 50_000));
    }
    Ok(table)
}
