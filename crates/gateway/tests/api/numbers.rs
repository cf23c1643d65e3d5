//! Field numbers: those of the interface that clients were built for, and ours from 100.

use gateway::schema;

/// Message, field and number.
const NUMBERS: &[(&str, &[(&str, u32)])] = &[
    (
        "private.v1.Metadata",
        &[
            ("creation_timestamp", 1),
            ("deletion_timestamp", 2),
            ("finalizers", 3),
            ("creators", 4),
            ("tenants", 5),
            ("name", 6),
            ("labels", 7),
            ("annotations", 8),
            ("version", 9),
        ],
    ),
    (
        "public.v1.Metadata",
        &[
            ("creation_timestamp", 1),
            ("deletion_timestamp", 2),
            ("creators", 3),
            ("name", 4),
            ("tenants", 5),
            ("labels", 7),
            ("annotations", 8),
            ("version", 9),
        ],
    ),
    ("private.v1.Host", &[("id", 1), ("metadata", 2), ("spec", 3), ("status", 4)]),
    ("public.v1.Host", &[("id", 1), ("metadata", 2), ("spec", 4), ("status", 5)]),
    (
        "private.v1.HostSpec",
        &[
            ("power_state", 1),
            ("bmc", 2),
            ("rack", 3),
            ("class", 4),
            ("boot_mac", 5),
            ("boot_ip", 6),
            ("title", 7),
            ("description", 8),
            ("bcm_link", 9),
            ("hardware", 100),
            ("uplink_interface", 101),
            ("boot_interface", 102),
            ("node_ref", 103),
        ],
    ),
    ("public.v1.HostSpec", &[("power_state", 1)]),
    ("private.v1.BMC", &[("url", 1), ("user", 2), ("password", 3), ("insecure", 4)]),
    (
        "private.v1.HostStatus",
        &[("state", 1), ("power_state", 2), ("conditions", 3), ("host_pool", 4), ("cluster", 5), ("hub", 6)],
    ),
    ("public.v1.HostStatus", &[("state", 1), ("power_state", 2), ("conditions", 3)]),
    (
        "private.v1.HostCondition",
        &[("type", 1), ("status", 2), ("last_transition_time", 3), ("reason", 4), ("message", 5)],
    ),
    ("private.v1.HostClass", &[("id", 1), ("metadata", 2), ("title", 3), ("description", 4)]),
    ("private.v1.ClusterSpec", &[("template", 1), ("template_parameters", 2), ("node_sets", 3)]),
    (
        "private.v1.ClusterStatus",
        &[
            ("state", 1),
            ("conditions", 2),
            ("api_url", 3),
            ("console_url", 4),
            ("node_sets", 5),
            ("hub", 6),
            ("alias", 7),
            ("port", 8),
        ],
    ),
    (
        "public.v1.ClusterStatus",
        &[("state", 1), ("conditions", 2), ("api_url", 3), ("console_url", 4), ("node_sets", 5)],
    ),
    ("private.v1.ClusterNodeSet", &[("host_class", 1), ("size", 2), ("hosts", 3)]),
    (
        "private.v1.ClusterTemplate",
        &[("id", 1), ("metadata", 2), ("title", 3), ("description", 4), ("parameters", 5), ("node_sets", 6)],
    ),
    (
        "private.v1.ClusterTemplateParameterDefinition",
        &[("name", 1), ("title", 2), ("description", 3), ("required", 4), ("type", 5), ("default", 6)],
    ),
    ("private.v1.Hub", &[("id", 1), ("metadata", 2), ("spec", 3), ("status", 4)]),
    (
        "private.v1.HubSpec",
        &[("kubeconfig", 3), ("namespace", 4), ("pull_secret", 5), ("ssh_public_key", 6), ("ip", 7)],
    ),
    (
        "private.v1.Event",
        &[
            ("id", 1),
            ("type", 2),
            ("cluster", 3),
            ("cluster_template", 4),
            ("host_class", 5),
            ("hub", 6),
            ("host", 9),
        ],
    ),
    (
        "public.v1.Event",
        &[("id", 1), ("type", 2), ("cluster", 3), ("cluster_template", 4), ("host_class", 5), ("host", 9)],
    ),
    ("private.v1.EventsWatchRequest", &[("filter", 1), ("resume_token", 100)]),
    (
        "private.v1.HostsListRequest",
        &[("offset", 1), ("limit", 2), ("filter", 3), ("order", 4), ("page_token", 100)],
    ),
    ("private.v1.HostsListResponse", &[("size", 1), ("total", 2), ("items", 3), ("next_page_token", 100)]),
    ("private.v1.HostsUpdateRequest", &[("object", 1), ("update_mask", 2), ("lock", 3)]),
    ("private.v1.HostsSignalRequest", &[("id", 1)]),
    ("private.v1.CapabilitiesGetResponse", &[("authn", 1), ("version", 100)]),
    ("private.v1.AuthnCapabilities", &[("trusted_token_issuers", 1)]),
];

#[test]
fn fields_have_the_numbers_that_clients_were_built_with() {
    for (message, fields) in NUMBERS {
        let message = schema::message(&format!("osac.{message}")).unwrap();
        let mut found: Vec<(String, u32)> =
            message.fields().map(|field| (field.name().to_owned(), field.number())).collect();
        found.sort_by_key(|(_, number)| *number);
        let wanted: Vec<(String, u32)> =
            fields.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
        assert_eq!(found, wanted, "{}", message.full_name());
    }
}

#[test]
fn enums_have_the_numbers_that_clients_were_built_with() {
    let of = |name: &str| {
        let of = schema::pool().get_enum_by_name(&format!("osac.private.v1.{name}")).unwrap();
        of.values().map(|value| (value.number(), value.name().to_owned())).collect::<Vec<_>>()
    };
    let named = |prefix: &str, names: &[&str]| {
        names
            .iter()
            .enumerate()
            .map(|(at, name)| (i32::try_from(at).unwrap(), format!("{prefix}_{name}")))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("HostState"), named("HOST_STATE", &["UNSPECIFIED", "PROGRESSING", "READY", "FAILED"]));
    assert_eq!(of("HostPowerState"), named("HOST_POWER_STATE", &["UNSPECIFIED", "ON", "OFF"]));
    let conditions = ["UNSPECIFIED", "PROGRESSING", "READY", "FAILED", "DEGRADED"];
    assert_eq!(of("HostConditionType"), named("HOST_CONDITION_TYPE", &conditions));
    assert_eq!(of("ClusterConditionType"), named("CLUSTER_CONDITION_TYPE", &conditions));
    assert_eq!(of("ConditionStatus"), named("CONDITION_STATUS", &["UNSPECIFIED", "TRUE", "FALSE"]));
    let events = ["UNSPECIFIED", "OBJECT_CREATED", "OBJECT_UPDATED", "OBJECT_DELETED", "OBJECT_SIGNALED"];
    assert_eq!(of("EventType"), named("EVENT_TYPE", &events));
}

/// The message and the field at a path of the table of all fields.
fn at(message: &str, path: &str) -> Option<prost_reflect::FieldDescriptor> {
    let mut of = schema::message(message)?;
    let steps: Vec<&str> = path.split('.').filter(|step| *step != "*").collect();
    let (last, parents) = steps.split_last()?;
    for step in parents {
        let field = of.get_field_by_name(step.trim_end_matches("[]"))?;
        let inner = field.kind().as_message()?.clone();
        of = match inner.is_map_entry() {
            true => inner.map_entry_value_field().kind().as_message()?.clone(),
            false => inner,
        };
    }
    of.get_field_by_name(last.trim_end_matches("[]"))
}

#[test]
fn the_messages_have_the_fields_that_the_table_of_all_fields_says() {
    use fulfillment::fields::{MESSAGES, METADATA, Sight};
    for message in MESSAGES {
        for field in METADATA.iter().chain(message.fields) {
            let private = at(&format!("osac.private.v1.{}", message.name), field.path);
            let private = private.unwrap_or_else(|| panic!("{} has no {}", message.name, field.path));
            assert_eq!(private.number(), field.number, "{}", private.full_name());
            let public = at(&format!("osac.public.v1.{}", message.name), field.path);
            let is_public = field.sight == Sight::Public && message.name != "Hub";
            assert_eq!(public.is_some(), is_public, "{} of the public {}", field.path, message.name);
        }
    }
}
