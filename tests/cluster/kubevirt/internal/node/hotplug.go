package node

import (
	virtv1 "kubevirt.io/api/core/v1"
)

// stepVolumes moves the first volume whose status is behind: targets of those present at boot, and hotplugged ones
// through attached, mounted, ready and back.
func (n *Node) stepVolumes(vmi *virtv1.VirtualMachineInstance) string {
	inSpec := map[string]bool{}
	for _, v := range vmi.Spec.Volumes {
		inSpec[v.Name] = true
	}
	for i := range vmi.Status.VolumeStatus {
		s := &vmi.Status.VolumeStatus[i]
		letter := string(rune('a' + i%26))
		switch {
		case s.HotplugVolume == nil:
			if vmi.IsRunning() && s.Target == "" {
				s.Target = "vd" + letter
				return "target of " + s.Name
			}
		case inSpec[s.Name]:
			waiting := s.Phase == virtv1.HotplugVolumeAttachedToNode || s.Phase == virtv1.VolumeBound || s.Phase == virtv1.VolumePending
			if s.HotplugVolume.AttachPodUID != "" && waiting {
				s.Phase, s.Reason, s.Message = virtv1.HotplugVolumeMounted, "VolumeMountedToPod", "Volume "+s.Name+" has been mounted in virt-launcher pod"
				return "mounted " + s.Name
			}
			if s.Phase == virtv1.HotplugVolumeMounted && vmi.IsRunning() {
				s.Phase, s.Reason, s.Message, s.Target = virtv1.VolumeReady, "VolumeReady", "Successfully attach hotplugged volume "+s.Name+" to VM", "sd"+letter
				return "attached " + s.Name
			}
		case s.Phase == virtv1.VolumeReady || s.Phase == virtv1.HotplugVolumeMounted || s.Phase == virtv1.HotplugVolumeAttachedToNode:
			s.Phase, s.Reason, s.Message, s.Target = virtv1.HotplugVolumeUnMounted, "VolumeUnMountedFromPod", "Volume "+s.Name+" has been unmounted from virt-launcher pod", ""
			return "unmounted " + s.Name
		}
	}
	return ""
}

// hotplugged reports whether all hotpluggable volumes of the spec are there: a guest starts with them.
func hotplugged(vmi *virtv1.VirtualMachineInstance) bool {
	there := map[string]bool{}
	for _, s := range vmi.Status.VolumeStatus {
		there[s.Name] = s.Phase == virtv1.HotplugVolumeMounted || s.Phase == virtv1.VolumeReady
	}
	for _, v := range vmi.Spec.Volumes {
		hot := v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.Hotpluggable || v.DataVolume != nil && v.DataVolume.Hotpluggable
		if hot && !there[v.Name] {
			return false
		}
	}
	return true
}
