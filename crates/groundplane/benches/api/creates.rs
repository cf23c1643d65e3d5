//! The filling, which is measured: creates by one client and by sixteen, and the list when 10,000 are there.

use testbed::bench::Outcome;
use testbed::bench::report::Table;

use crate::connection::Connection;
use crate::crowd::{Until, crowd};
use crate::objects::{MACHINES, Random, machine};
use crate::options::{Options, Part};
use crate::subject::Subject;
use crate::{lists, peer, table};

const BY_ONE: usize = 1_000;

pub fn measure(subject: &Subject, options: &Options) -> Outcome<Table> {
    let mut table = table::operations("creates", "Creates of 1,024 bytes");
    let objects = options.objects();
    let first = objects.min(10_000);
    let mut made = 0;
    let steps = [
        ("create, 1 client", 1, BY_ONE.min(first / 2), peer::CREATE_1),
        ("create, 16 clients, to 10,000", 16, first, peer::CREATE_16),
        ("create, 16 clients, 10,000 to 50,000", 16, objects, peer::CREATE_16_MORE),
    ];
    for (operation, clients, to, peer) in steps {
        if to <= made {
            continue;
        }
        let mut measured = crowd(subject, clients, Until::Done(to - made), create(made))?;
        table.row(table::row(operation, &mut measured, peer, to.is_multiple_of(10_000) || clients == 1));
        made = to;
        // The list of 10,000 is taken while there are just so many.
        if made == 10_000 && options.wants(Part::Lists) {
            lists::whole(subject, options, &mut table, made)?;
        }
    }
    table.note(
        "CPU: of the server's processes and of the load generator (client's) for each operation; load: the machine's \
         load average right after",
    );
    Ok(table)
}

fn create(from: usize) -> impl Fn(&mut Connection, usize, &mut Random) -> Outcome + Sync {
    move |connection, number, _| {
        let body = machine(from + number, 0);
        connection.expect(201, ("POST", MACHINES, "application/json"), &body)?;
        Ok(())
    }
}
