"""Drives one machine with sushy, the library that OpenStack Ironic speaks Redfish with, as Ironic's ramdisk deploy does.

Arguments: base URL, account, password, CA file, Redfish id of the system, URL of the image.
Prints one line per step; the last one is "done".
"""
import sys
import time

import sushy


def wait_for_power(system, wanted, limit=120):
    end = time.monotonic() + limit
    seen = []
    while time.monotonic() < end:
        system.refresh(force=True)
        if not seen or seen[-1] != system.power_state:
            seen.append(system.power_state)
        if system.power_state == wanted:
            return seen
        time.sleep(0.5)  # as Ironic polls
    sys.exit(f"PowerState is {system.power_state} after {limit} s, not {wanted}")


def find_slot(system):
    """Older releases know virtual media of managers only, newer ones ask the system first."""
    for owner in [system] * hasattr(system, "virtual_media") + list(system.managers):
        for slot in owner.virtual_media.get_members():
            if sushy.VIRTUAL_MEDIA_CD in slot.media_types:
                return slot
    sys.exit("no virtual media slot for a CD")


def history(system):
    """The library has no class for a log, but its connection follows the links."""
    connection = system._conn
    services = connection.get(system.json["LogServices"]["@odata.id"]).json()
    log = connection.get(services["Members"][0]["@odata.id"]).json()
    return connection.get(log["Entries"]["@odata.id"]).json()["Members"]


def main(base_url, user, password, ca, system_id, image):
    root = sushy.Sushy(base_url, username=user, password=password, verify=ca)
    collection = root.get_system_collection()
    assert any(path.endswith("/" + system_id) for path in collection.members_identities), collection.members_identities
    system = root.get_system(f"/redfish/v1/Systems/{system_id}")
    print("found", system.identity, system.uuid, system.power_state)
    assert system.power_state == sushy.SYSTEM_POWER_STATE_OFF
    assert system.memory_summary.size_gib is not None
    assert list(system.ethernet_interfaces.summary), "inspection needs a MAC address"

    slot = find_slot(system)
    assert not slot.inserted
    slot.insert_media(image)
    system.set_system_boot_options(target=sushy.BOOT_SOURCE_TARGET_CD, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE)
    system.reset_system(sushy.RESET_ON)
    print("inserted, boot device set, powered on")
    print("power states:", *(state.value for state in wait_for_power(system, sushy.SYSTEM_POWER_STATE_ON)))
    slot.refresh(force=True)
    assert slot.inserted and slot.image == image, (slot.inserted, slot.image)

    entries = history(system)
    text = "\n".join(entry["Message"] for entry in entries)
    assert "accepted" in text and "released" in text, text
    print("the log has", len(entries), "entries")

    slot.eject_media()
    slot.refresh(force=True)
    assert not slot.inserted, "an eject shows in the next GET"
    system.reset_system(sushy.RESET_FORCE_OFF)
    wait_for_power(system, sushy.SYSTEM_POWER_STATE_OFF)
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
