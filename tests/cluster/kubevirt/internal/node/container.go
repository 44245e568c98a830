package node

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/importer"
)

// container is the importer container of one pod, over its restarts.
type container struct {
	ip      string
	metrics *metricsServer
	run     *run
	current atomic.Pointer[importer.Job] // of run, for the metrics server
	until   time.Time                    // end of the back-off
}

// run is one life of the container.
type run struct {
	job    *importer.Job
	cancel context.CancelFunc
	done   chan struct{}
	result importer.Result // once done is closed
}

// A tenth of a kubelet's: the first restart comes at once, then it doubles.
const (
	firstBackOff = time.Second
	maxBackOff   = 30 * time.Second
)

// newContainer starts the first run. The pod gets an address of its own, where CDI reads its progress.
func (n *Node) newContainer(ctx context.Context, pod *corev1.Pod) *container {
	c := &container{}
	c.metrics = n.serveMetrics(env(pod)["OWNER_UID"], c)
	c.ip = c.metrics.ip
	c.begin(n.startRun(ctx, pod))
	return c
}

func (c *container) begin(r *run) {
	c.run = r
	c.current.Store(r.job)
}

// progress is that of the current run; a metrics server may ask before there is one.
func (c *container) progress() (float64, bool) {
	job := c.current.Load()
	if job == nil {
		return 0, false
	}
	return job.Progress()
}

// stop ends the container and reports whether it has ended.
func (c *container) stop() bool {
	c.metrics.close()
	c.run.cancel()
	select {
	case <-c.run.done:
		return true
	default:
		return false
	}
}

// stepImporter moves the container's state in the pod's status: running, terminated, waiting, running again.
func (n *Node) stepImporter(ctx context.Context, pod *corev1.Pod, s *podState) {
	if s.importer == nil { // this stub has been restarted: the container was killed with it
		s.importer, s.started = n.newContainer(ctx, pod), true
		s.importer.run.cancel()
		<-s.importer.run.done
		s.importer.run.result = importer.Result{ExitCode: 137, Message: "killed"}
		pod.Status.PodIP, pod.Status.PodIPs = s.importer.ip, []corev1.PodIP{{IP: s.importer.ip}}
	}
	c, now := s.importer, metav1.Now()
	if len(pod.Status.ContainerStatuses) != 1 {
		return
	}
	status := &pod.Status.ContainerStatuses[0]
	switch {
	case status.State.Running != nil:
		result, ended := c.ended()
		if fault := n.faults.importerFailure(n.importName(pod)); fault != "" && !ended {
			c.run.cancel()
			<-c.run.done
			result, ended = importer.Result{ExitCode: 1, Message: fault}, true
		}
		if !ended {
			return
		}
		status.Ready = false
		status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: result.ExitCode, Message: result.Message,
			Reason: map[bool]string{true: "Completed", false: "Error"}[result.ExitCode == 0], StartedAt: status.State.Running.StartedAt, FinishedAt: now}}
		if result.ExitCode == 0 {
			pod.Status.Phase = corev1.PodSucceeded
			c.metrics.close()
		} else {
			pod.Status.Conditions = withReadiness(pod.Status.Conditions, corev1.ConditionFalse)
		}
	case status.State.Terminated != nil:
		status.LastTerminationState = status.State
		if status.RestartCount == 0 {
			c.until = time.Time{} // at once
		} else {
			c.until = time.Now().Add(min(firstBackOff<<min(status.RestartCount-1, 10), maxBackOff))
		}
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff",
			Message: "back-off restarting failed container importer in pod " + pod.Name}}
	case time.Now().After(c.until):
		c.begin(n.startRun(ctx, pod))
		status.RestartCount++
		status.Ready = true
		status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		pod.Status.Conditions = withReadiness(pod.Status.Conditions, corev1.ConditionTrue)
	default:
		return
	}
	if n.updateStatus(ctx, pod) {
		n.log.WithField("pod", pod.Namespace+"/"+pod.Name).WithField("restarts", status.RestartCount).WithField("state", stateName(status.State)).Info("importer")
	}
}

func (c *container) ended() (importer.Result, bool) {
	select {
	case <-c.run.done:
		return c.run.result, true
	default:
		return importer.Result{}, false
	}
}

func stateName(s corev1.ContainerState) string {
	switch {
	case s.Running != nil:
		return "running"
	case s.Terminated != nil:
		return "terminated: " + s.Terminated.Message
	}
	return "waiting"
}

// startRun begins one download in a goroutine that the node waits for at its end.
func (n *Node) startRun(ctx context.Context, pod *corev1.Pod) *run {
	ctx, cancel := context.WithCancel(ctx)
	r := &run{cancel: cancel, done: make(chan struct{})}
	job, err := n.job(ctx, pod)
	if err != nil {
		r.job, r.result = &importer.Job{}, importer.Result{ExitCode: 1, Message: err.Error()}
		close(r.done)
		return r
	}
	job.Gate = n.faults.gate(pod.Spec.NodeName, n.importName(pod))
	r.job = job
	n.downloads.Add(1)
	go func() {
		defer n.downloads.Done()
		r.result = job.Run(ctx)
		close(r.done)
	}()
	return r
}
