//! Actions of tasks, and the steps that each consists of.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Validates the design, and checks that the provisioner can do what it asks for.
    ValidateDesign,
    /// Checks that the provisioner is ready.
    VerifySite,
    /// Configures networks, keys and repositories in the provisioner.
    PrepareSite,
    /// Checks that the BMC of each node answers.
    VerifyNodes,
    /// Boots each node into the provisioner, and has its hardware inspected.
    PrepareNodes,
    /// Installs each node.
    DeployNodes,
    /// Releases each node. The content of its disks is lost.
    DestroyNodes,
    /// Sets the labels of each node in Kubernetes.
    RelabelNodes,
    /// Power-cycles each node.
    RebootNodes,
}

impl Action {
    /// All of them.
    pub const ALL: [Action; 9] = [
        Action::ValidateDesign,
        Action::VerifySite,
        Action::PrepareSite,
        Action::VerifyNodes,
        Action::PrepareNodes,
        Action::DeployNodes,
        Action::DestroyNodes,
        Action::RelabelNodes,
        Action::RebootNodes,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::ValidateDesign => "validate_design",
            Action::VerifySite => "verify_site",
            Action::PrepareSite => "prepare_site",
            Action::VerifyNodes => "verify_nodes",
            Action::PrepareNodes => "prepare_nodes",
            Action::DeployNodes => "deploy_nodes",
            Action::DestroyNodes => "destroy_nodes",
            Action::RelabelNodes => "relabel_nodes",
            Action::RebootNodes => "reboot_nodes",
        }
    }

    /// The action of a name.
    pub fn parse(name: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str() == name)
    }

    /// Whether it is about the site as a whole, and not about its nodes.
    pub fn is_about_the_site(self) -> bool {
        matches!(self, Action::ValidateDesign | Action::VerifySite | Action::PrepareSite)
    }

    /// Its steps, in order: those of the site, or those of each node.
    pub fn steps(self) -> &'static [Step] {
        match self {
            Action::ValidateDesign => &[Step::ValidateDesign],
            Action::VerifySite => &[Step::ValidateNodeServices],
            Action::PrepareSite => &[
                Step::ValidateNodeServices,
                Step::CreateNetworkTemplate,
                Step::ConfigureUserCredentials,
                Step::ConfigureNodeProvisioner,
            ],
            Action::VerifyNodes => &[Step::InterrogateOob],
            Action::PrepareNodes => &[
                Step::ClaimHost,
                Step::ConfigPortProvisioning,
                Step::FindNode,
                Step::SetNodeBoot,
                Step::PowerCycleNode,
                Step::IdentifyNode,
                Step::ConfigureHardware,
                Step::CompareHardware,
            ],
            Action::DeployNodes => &[
                Step::ClaimHost,
                Step::CompareHardware,
                Step::ConfigPortProduction,
                Step::ApplyNodeNetworking,
                Step::ApplyNodeStorage,
                Step::ApplyNodePlatform,
                Step::DeployNode,
                Step::BootactionReport,
            ],
            Action::DestroyNodes => &[Step::ClaimHost, Step::DestroyNode],
            Action::RelabelNodes => &[Step::RelabelNode],
            Action::RebootNodes => &[Step::ClaimHost, Step::PowerCycleNode],
        }
    }

    /// Whether the content of disks is lost.
    pub fn loses_data(self) -> bool {
        matches!(self, Action::DeployNodes | Action::DestroyNodes)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A step of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The design is validated.
    ValidateDesign,
    /// The provisioner is asked whether it is ready.
    ValidateNodeServices,
    /// Networks, VLANs and subnets are configured in the provisioner.
    CreateNetworkTemplate,
    /// SSH keys are configured in the provisioner.
    ConfigureUserCredentials,
    /// Package repositories and driver packages are configured in the provisioner.
    ConfigureNodeProvisioner,
    /// The host of the node is found and claimed.
    ClaimHost,
    /// The BMC is asked for the power state.
    InterrogateOob,
    /// Switch ports are configured for installing.
    ConfigPortProvisioning,
    /// The provisioner is asked whether it knows the node already.
    FindNode,
    /// The node is set to boot from the network.
    SetNodeBoot,
    /// The node is switched off and on.
    PowerCycleNode,
    /// The provisioner finds the node.
    IdentifyNode,
    /// The provisioner inspects the hardware and runs commissioning scripts.
    ConfigureHardware,
    /// The hardware that was found is compared with the design.
    CompareHardware,
    /// Switch ports are configured as designed.
    ConfigPortProduction,
    /// The network configuration is given to the provisioner.
    ApplyNodeNetworking,
    /// The storage layout is given to the provisioner.
    ApplyNodeStorage,
    /// Kernel parameters and tags are given to the provisioner.
    ApplyNodePlatform,
    /// The node is installed.
    DeployNode,
    /// The node reports about its boot actions.
    BootactionReport,
    /// The node is released and its disks are wiped.
    DestroyNode,
    /// Labels are set in Kubernetes.
    RelabelNode,
}

impl Step {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Step::ValidateDesign => "validate_design",
            Step::ValidateNodeServices => "validate_node_services",
            Step::CreateNetworkTemplate => "create_network_template",
            Step::ConfigureUserCredentials => "configure_user_credentials",
            Step::ConfigureNodeProvisioner => "configure_node_provisioner",
            Step::ClaimHost => "claim_host",
            Step::InterrogateOob => "interrogate_oob",
            Step::ConfigPortProvisioning => "config_port_provisioning",
            Step::FindNode => "find_node",
            Step::SetNodeBoot => "set_node_boot",
            Step::PowerCycleNode => "power_cycle_node",
            Step::IdentifyNode => "identify_node",
            Step::ConfigureHardware => "configure_hardware",
            Step::CompareHardware => "compare_hardware",
            Step::ConfigPortProduction => "config_port_production",
            Step::ApplyNodeNetworking => "apply_node_networking",
            Step::ApplyNodeStorage => "apply_node_storage",
            Step::ApplyNodePlatform => "apply_node_platform",
            Step::DeployNode => "deploy_node",
            Step::BootactionReport => "bootaction_report",
            Step::DestroyNode => "destroy_node",
            Step::RelabelNode => "relabel_node",
        }
    }

    /// Whether it changes the state of a BMC, which only who holds the claim on its host may do. Provisioners drive BMCs in
    /// some of their steps.
    pub fn drives_bmc(self) -> bool {
        matches!(
            self,
            Step::SetNodeBoot
                | Step::PowerCycleNode
                | Step::ConfigureHardware
                | Step::DeployNode
                | Step::DestroyNode
        )
    }

    /// Who does it.
    pub fn executor(self) -> Executor {
        match self {
            Step::ValidateDesign | Step::ClaimHost | Step::CompareHardware | Step::BootactionReport => {
                Executor::Planner
            }
            Step::InterrogateOob | Step::SetNodeBoot | Step::PowerCycleNode => Executor::Bmc,
            Step::ConfigPortProvisioning | Step::ConfigPortProduction => Executor::Network,
            Step::RelabelNode => Executor::Kubernetes,
            _ => Executor::Provisioner,
        }
    }

    /// Default time limit, in seconds. 0 is none: a host may be claimed for days.
    pub fn time_limit(self) -> i64 {
        let minutes = match self {
            Step::ClaimHost => 0,
            Step::CreateNetworkTemplate | Step::ConfigureUserCredentials => 2,
            Step::IdentifyNode => 10,
            Step::ConfigureHardware | Step::DestroyNode => 30,
            Step::DeployNode => 45,
            Step::BootactionReport => 15,
            Step::PowerCycleNode => 10,
            _ => 5,
        };
        minutes * 60
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who executes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// The controller itself, from what is stored.
    Planner,
    /// The driver of the BMC.
    Bmc,
    /// The network driver.
    Network,
    /// The driver of the provisioner.
    Provisioner,
    /// The Kubernetes API.
    Kubernetes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_serialized() {
        for action in Action::ALL {
            assert_eq!(serde_json::to_value(action).unwrap(), action.as_str());
            assert_eq!(Action::parse(action.as_str()), Some(action));
            for step in action.steps() {
                assert_eq!(serde_json::to_value(step).unwrap(), step.as_str());
            }
        }
    }

    #[test]
    fn whatever_drives_a_bmc_claims_its_host_first() {
        for action in Action::ALL.into_iter().filter(|action| !action.is_about_the_site()) {
            let claims = action.steps().iter().position(|step| *step == Step::ClaimHost);
            let drives = action.steps().iter().position(|step| step.drives_bmc());
            assert!(drives.is_none_or(|drives| claims.is_some_and(|claims| claims < drives)), "{action}");
        }
    }
}
