//! docs/fulfillment/api.md lists what is served.

use gateway::collection::{ALL, Face};
use gateway::schema;

const PAGE: &str = include_str!("../../../../docs/fulfillment/api.md");

#[test]
fn the_page_lists_every_service_with_its_methods_and_path() {
    for service in schema::pool().services() {
        let row = PAGE.lines().find(|line| line.starts_with(&format!("| `{}` |", service.full_name())));
        let row = row.unwrap_or_else(|| panic!("{} is missing", service.full_name()));
        let methods: Vec<String> = service.methods().map(|method| method.name().to_owned()).collect();
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(columns[2], methods.join(", "), "{}", service.full_name());
        for face in [Face::Private, Face::Public] {
            let collection = ALL.iter().find(|collection| {
                service.full_name() == format!("{}.{}", face.package(), collection.service)
            });
            if let Some(collection) = collection {
                assert_eq!(columns[3], format!("`{}/{}`", face.path(), collection.rest));
            }
        }
    }
}
