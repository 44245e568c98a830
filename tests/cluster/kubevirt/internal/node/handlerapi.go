package node

import (
	"context"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	virtv1 "kubevirt.io/api/core/v1"
)

// HandlerAPI is virt-handler's REST server as virt-api calls it: /v1/namespaces/{ns}/virtualmachineinstances/{name}/{verb}.
func (n *Node) HandlerAPI() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/namespaces/{namespace}/virtualmachineinstances/{name}/{verb}", func(w http.ResponseWriter, r *http.Request) {
		namespace, name, verb := r.PathValue("namespace"), r.PathValue("name"), r.PathValue("verb")
		var err error
		switch verb {
		case "pause", "unpause":
			err = n.pause(r.Context(), namespace, name, verb == "pause")
		case "reset", "softreboot":
			n.faults.change(func() { n.faults.reboot[namespace+"/"+name] = true })
		default:
			http.Error(w, "not played: "+strings.ToLower(verb), http.StatusNotImplemented)
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	return mux
}

func (n *Node) pause(ctx context.Context, namespace, name string, pause bool) error {
	handler := n.handlers[names()[0]].KubevirtV1().VirtualMachineInstances(namespace)
	vmi, err := handler.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	var conditions []virtv1.VirtualMachineInstanceCondition
	for _, c := range vmi.Status.Conditions {
		if c.Type != virtv1.VirtualMachineInstancePaused {
			conditions = append(conditions, c)
		}
	}
	if pause {
		conditions = append(conditions, virtv1.VirtualMachineInstanceCondition{Type: virtv1.VirtualMachineInstancePaused, Status: "True",
			Reason: "PausedByUser", Message: "VMI was paused by user", LastTransitionTime: metav1.Now()})
	}
	vmi.Status.Conditions = conditions
	_, err = n.handlers[vmi.Status.NodeName].KubevirtV1().VirtualMachineInstances(namespace).Update(ctx, vmi, metav1.UpdateOptions{})
	return err
}
