//! The resources, as they are read.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Options;
use super::faults::Fault;
use super::model::{Model, System};

/// The resource at a path below `/redfish/v1`, and its ETag.
pub fn read(model: &Model, options: &Options, path: &[&str]) -> Option<(Value, Option<String>)> {
    let untagged = |value: Value| Some((value, None));
    match path {
        [] => untagged(root(options)),
        ["Systems"] => untagged(collection("Systems", "ComputerSystem", numbers(model.systems.len()))),
        ["Systems", id, rest @ ..] => system(model, options, id, rest),
        ["Managers"] => untagged(collection("Managers", "Manager", numbers(model.systems.len()))),
        ["Managers", id, rest @ ..] => manager(model, id, rest).and_then(untagged),
        ["Chassis"] => untagged(collection("Chassis", "Chassis", numbers(model.systems.len()))),
        ["Chassis", id, rest @ ..] => chassis(model, id, rest).and_then(untagged),
        ["UpdateService", rest @ ..] => update(rest).and_then(untagged),
        ["SessionService"] if options.has_sessions => untagged(json!({
            "@odata.type": "#SessionService.v1_1_8.SessionService", "Id": "SessionService", "Name": "Sessions",
            "ServiceEnabled": true, "SessionTimeout": 1800, "Sessions": link("SessionService/Sessions"),
        })),
        ["SessionService", "Sessions"] if options.has_sessions => {
            let ids = model.sessions.keys().map(u64::to_string).collect();
            untagged(collection("SessionService/Sessions", "Session", ids))
        }
        ["AccountService"] => untagged(json!({
            "@odata.type": "#AccountService.v1_10_0.AccountService", "Id": "AccountService", "Name": "Accounts",
            "AccountLockoutThreshold": options.lockout_after.unwrap_or(0),
            "Accounts": link("AccountService/Accounts"),
        })),
        ["AccountService", "Accounts"] => {
            untagged(collection("AccountService/Accounts", "ManagerAccount", numbers(model.accounts.len())))
        }
        ["AccountService", "Accounts", id] => {
            let account = model.accounts.get(index(id)?)?;
            let value = json!({
                "@odata.type": "#ManagerAccount.v1_8_0.ManagerAccount", "Id": id, "Name": "User Account",
                "UserName": account.name, "Password": null, "RoleId": "Administrator", "Enabled": true,
                "Locked": account.locked_until.is_some_and(|until| until > Instant::now()),
            });
            Some((value, Some(format!("W/\"{}\"", account.changes))))
        }
        ["TaskService"] => untagged(json!({
            "@odata.type": "#TaskService.v1_2_0.TaskService", "Id": "TaskService", "Name": "Tasks",
            "ServiceEnabled": true, "Tasks": link("TaskService/Tasks"),
        })),
        ["TaskService", "Tasks"] => {
            untagged(collection("TaskService/Tasks", "Task", numbers(model.tasks.len())))
        }
        ["TaskService", "Tasks", id] => task(model, id).and_then(untagged),
        _ => None,
    }
}

fn root(options: &Options) -> Value {
    let mut root = json!({
        "@odata.id": "/redfish/v1/", "@odata.type": "#ServiceRoot.v1_15_0.ServiceRoot",
        "Id": "RootService", "Name": "Root Service", "RedfishVersion": "1.17.0",
        "UUID": "92384634-2938-2342-8820-489239905423", "Vendor": options.vendor, "Product": "Simulated BMC",
        "Systems": link("Systems"), "Chassis": link("Chassis"), "Managers": link("Managers"),
        "UpdateService": link("UpdateService"), "AccountService": link("AccountService"), "Tasks": link("TaskService"),
    });
    if let (true, Some(root)) = (options.has_sessions, root.as_object_mut()) {
        root.insert("SessionService".to_owned(), link("SessionService"));
        root.insert("Links".to_owned(), json!({ "Sessions": link("SessionService/Sessions") }));
    }
    root
}

fn system(model: &Model, options: &Options, id: &str, rest: &[&str]) -> Option<(Value, Option<String>)> {
    let number = index(id)?;
    let system = model.systems.get(number)?;
    let below = |name: &str| format!("Systems/{id}/{name}");
    let etag = Some(format!("W/\"{}\"", system.changes));
    let value = match rest {
        [] => whole_system(system, options, number),
        ["Settings"] if options.is_awkward => json!({ "Id": "Settings", "Boot": boot(system) }),
        ["Bios"] => bios(system, options, id),
        ["Bios", "Settings"] if !options.is_awkward => {
            let mut attributes = system.bios.clone();
            attributes.extend(system.staged.clone());
            json!({ "Id": "Settings", "Name": "Pending BIOS settings", "Attributes": attributes })
        }
        ["Processors"] => collection(&below("Processors"), "Processor", numbers(2)),
        ["Processors", part] => {
            index(part).filter(|part| *part < 2)?;
            json!({ "Id": part, "Name": "Processor", "Socket": format!("CPU {part}"), "ProcessorType": "CPU",
                "Manufacturer": "Contoso", "Model": "Contoso 9000", "InstructionSet": "x86-64", "TotalCores": 32, "TotalThreads": 64,
                "MaxSpeedMHz": 3500, "Status": ok() })
        }
        ["Memory"] => collection(&below("Memory"), "Memory", numbers(8)),
        ["Memory", part] => {
            let slot = index(part).filter(|part| *part < 8)?;
            json!({ "Id": part, "Name": "Memory", "DeviceLocator": format!("DIMM {part}"), "CapacityMiB": 32768,
                "MemoryDeviceType": "DDR5", "SerialNumber": format!("M{:05}-{slot}", number + 1), "Status": ok() })
        }
        ["EthernetInterfaces"] => collection(&below("EthernetInterfaces"), "EthernetInterface", numbers(2)),
        ["EthernetInterfaces", part] => {
            let nic = index(part).filter(|part| *part < 2)?;
            json!({ "Id": part, "Name": "Ethernet Interface", "MACAddress": mac(number, nic).to_uppercase(),
                "PermanentMACAddress": mac(number, nic).to_uppercase(), "SpeedMbps": 25000,
                "LinkStatus": if nic == 0 { "LinkUp" } else { "LinkDown" }, "Status": ok() })
        }
        ["Storage"] => collection(&below("Storage"), "Storage", vec!["1".to_owned()]),
        ["Storage", "1"] => json!({ "Id": "1", "Name": "Storage",
            "Drives": [link(&below("Storage/1/Drives/1")), link(&below("Storage/1/Drives/2"))], "Status": ok() }),
        ["Storage", "1", "Drives", part] => {
            let drive = index(part).filter(|part| *part < 2)?;
            json!({ "Id": part, "Name": "Drive", "Model": "Contoso NVMe", "MediaType": "SSD", "Protocol": "NVMe",
                "SerialNumber": format!("D{:05}-{drive}", number + 1), "CapacityBytes": 3_840_755_982_336_u64,
                "Status": ok() })
        }
        _ => return None,
    };
    Some((with_id(value, &["Systems", id], rest), etag))
}

fn whole_system(system: &System, options: &Options, number: usize) -> Value {
    let id = (number + 1).to_string();
    let below = |name: &str| link(&format!("Systems/{id}/{name}"));
    let reset = format!("/redfish/v1/Systems/{id}/Actions/ComputerSystem.Reset");
    let mut value = json!({
        "@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "Id": id, "Name": format!("system-{id}"),
        "SystemType": "Physical", "Manufacturer": "Contoso", "Model": "Rack Server 3000",
        "SerialNumber": format!("SIM{:06}", number + 1), "SKU": "8675309", "AssetTag": "",
        "UUID": format!("00000000-0000-4000-8000-{:012X}", number + 1), "BiosVersion": "2.4.1",
        "PowerState": system.power(), "Boot": boot(system), "LocationIndicatorActive": system.is_identified,
        "ProcessorSummary": { "Count": 2, "Model": "Contoso 9000" },
        "MemorySummary": { "TotalSystemMemoryGiB": 256 }, "Status": ok(),
        "Processors": below("Processors"), "Memory": below("Memory"), "Storage": below("Storage"),
        "EthernetInterfaces": below("EthernetInterfaces"),
        "Links": { "Chassis": [link(&format!("Chassis/{id}"))], "ManagedBy": [link(&format!("Managers/{id}"))] },
        "Actions": { "#ComputerSystem.Reset": { "target": reset } },
    });
    let Some(object) = value.as_object_mut() else { return value };
    if !options.is_awkward {
        object.insert("Bios".to_owned(), below("Bios"));
        object.insert("VirtualMedia".to_owned(), link(&format!("Managers/{id}/VirtualMedia")));
        object["Actions"]["#ComputerSystem.Reset"]["ResetType@Redfish.AllowableValues"] =
            json!(["On", "ForceOff", "GracefulShutdown", "ForceRestart"]);
    }
    value
}

fn boot(system: &System) -> Value {
    json!({
        "BootSourceOverrideEnabled": system.boot_enabled, "BootSourceOverrideTarget": system.boot_target,
        "BootSourceOverrideMode": system.boot_mode,
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Hdd", "Cd", "Usb", "BiosSetup"],
    })
}

fn bios(system: &System, options: &Options, id: &str) -> Value {
    let mut bios = json!({ "@odata.type": "#Bios.v1_2_0.Bios", "Id": "Bios", "Name": "BIOS",
        "Attributes": system.bios });
    if let (false, Some(bios)) = (options.is_awkward, bios.as_object_mut()) {
        let settings = json!({ "SettingsObject": link(&format!("Systems/{id}/Bios/Settings")) });
        bios.insert("@Redfish.Settings".to_owned(), settings);
    }
    bios
}

fn manager(model: &Model, id: &str, rest: &[&str]) -> Option<Value> {
    let system = model.systems.get(index(id)?)?;
    let media = format!("Managers/{id}/VirtualMedia");
    let value = match rest {
        [] => json!({
            "@odata.type": "#Manager.v1_15_0.Manager", "Id": id, "Name": "Manager", "ManagerType": "BMC",
            "Model": "Simulated BMC", "FirmwareVersion": "1.4.2", "Status": ok(), "VirtualMedia": link(&media),
            "Links": { "ManagerForServers": [link(&format!("Systems/{id}"))] },
        }),
        ["VirtualMedia"] => collection(&media, "VirtualMedia", vec!["Floppy".to_owned(), "Cd".to_owned()]),
        ["VirtualMedia", slot @ ("Cd" | "Floppy")] => {
            let image = system.image.as_ref().filter(|_| *slot == "Cd");
            let act = |name: &str| format!("/redfish/v1/{media}/{slot}/Actions/VirtualMedia.{name}");
            json!({
                "Id": slot, "Name": "Virtual Media", "Image": image, "Inserted": image.is_some(),
                "MediaTypes": if *slot == "Cd" { json!(["CD", "DVD"]) } else { json!(["Floppy", "USBStick"]) },
                "Actions": { "#VirtualMedia.InsertMedia": { "target": act("InsertMedia") },
                    "#VirtualMedia.EjectMedia": { "target": act("EjectMedia") } },
            })
        }
        _ => return None,
    };
    Some(with_id(value, &["Managers", id], rest))
}

fn chassis(model: &Model, id: &str, rest: &[&str]) -> Option<Value> {
    let system = model.systems.get(index(id)?)?;
    let (celsius, rpm, watts) = if system.is_on { (48, 6200, 310) } else { (24, 0, 12) };
    let value = match rest {
        [] => json!({
            "@odata.type": "#Chassis.v1_21_0.Chassis", "Id": id, "Name": "Chassis", "ChassisType": "RackMount",
            "Thermal": link(&format!("Chassis/{id}/Thermal")), "Power": link(&format!("Chassis/{id}/Power")),
            "Links": { "ComputerSystems": [link(&format!("Systems/{id}"))] }, "Status": ok(),
        }),
        ["Thermal"] => json!({ "Id": "Thermal", "Name": "Thermal",
            "Temperatures": [{ "Name": "Inlet", "ReadingCelsius": celsius, "Status": ok() }],
            "Fans": [{ "Name": "Fan 1", "Reading": rpm, "ReadingUnits": "RPM", "Status": ok() }] }),
        ["Power"] => json!({ "Id": "Power", "Name": "Power",
            "PowerControl": [{ "Name": "System", "PowerConsumedWatts": watts, "Status": ok() }] }),
        _ => return None,
    };
    Some(with_id(value, &["Chassis", id], rest))
}

fn update(rest: &[&str]) -> Option<Value> {
    let items = [
        ("BIOS", "System BIOS", "2.4.1"),
        ("BMC", "BMC firmware", "1.4.2"),
        ("NIC1", "Network adapter", "22.31.6"),
    ];
    let value = match rest {
        [] => {
            json!({ "@odata.type": "#UpdateService.v1_11_0.UpdateService", "Id": "UpdateService", "Name": "Update",
            "ServiceEnabled": true, "FirmwareInventory": link("UpdateService/FirmwareInventory") })
        }
        ["FirmwareInventory"] => {
            let ids = items.iter().map(|(id, ..)| (*id).to_owned()).collect();
            collection("UpdateService/FirmwareInventory", "SoftwareInventory", ids)
        }
        ["FirmwareInventory", id] => {
            let (id, name, version) = items.iter().find(|(known, ..)| known == id)?;
            json!({ "Id": id, "Name": name, "Version": version, "Updateable": true, "Status": ok() })
        }
        _ => return None,
    };
    Some(with_id(value, &["UpdateService"], rest))
}

/// A task: running until its time.
pub fn task(model: &Model, id: &str) -> Option<Value> {
    let ends = model.tasks.get(index(id)?)?;
    let (state, message) = match (*ends <= Instant::now(), model.has(Fault::TasksFail)) {
        (false, _) => ("Running", "The task runs."),
        (true, false) => ("Completed", "The task has ended."),
        (true, true) => ("Exception", "The flash chip did not answer."),
    };
    Some(json!({ "@odata.id": format!("/redfish/v1/TaskService/Tasks/{id}"),
        "@odata.type": "#Task.v1_7_0.Task", "Id": id, "Name": "Task", "TaskState": state,
        "Messages": [{ "Message": message }] }))
}

fn collection(path: &str, kind: &str, ids: Vec<String>) -> Value {
    let members: Vec<Value> = ids.iter().map(|id| link(&format!("{path}/{id}"))).collect();
    json!({ "@odata.id": format!("/redfish/v1/{path}"), "@odata.type": format!("#{kind}Collection.{kind}Collection"),
        "Name": format!("{kind} Collection"), "Members@odata.count": members.len(), "Members": members })
}

fn with_id(mut value: Value, above: &[&str], rest: &[&str]) -> Value {
    if let Some(object) = value.as_object_mut() {
        let path: Vec<&str> = above.iter().chain(rest).copied().collect();
        object.entry("@odata.id").or_insert_with(|| format!("/redfish/v1/{}", path.join("/")).into());
    }
    value
}

fn link(path: &str) -> Value {
    json!({ "@odata.id": format!("/redfish/v1/{path}") })
}

fn ok() -> Value {
    json!({ "State": "Enabled", "Health": "OK" })
}

fn mac(system: usize, nic: usize) -> String {
    let number = system * 2 + nic;
    format!("52:54:00:{:02x}:{:02x}:{:02x}", number >> 16 & 0xff, number >> 8 & 0xff, number & 0xff)
}

fn numbers(count: usize) -> Vec<String> {
    (1..=count).map(|number| number.to_string()).collect()
}

/// Names of members count from 1.
pub fn index(id: &str) -> Option<usize> {
    id.parse::<usize>().ok()?.checked_sub(1)
}
