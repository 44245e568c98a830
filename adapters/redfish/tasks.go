package redfish

import (
	"net/http"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

const (
	tasksURI    = root + "/TaskService/Tasks"
	monitorsURI = root + "/TaskService/TaskMonitors"
)

func taskURI(id string) string    { return tasksURI + "/" + id }
func monitorURI(id string) string { return monitorsURI + "/" + id }

func (s *Service) taskRoutes() {
	s.at("/TaskService", resource{get: s.taskService})
	s.at("/TaskService/Tasks", resource{get: s.tasks})
	s.at("/TaskService/Tasks/{task}", resource{get: s.task})
	s.router.Handle(monitorsURI+"/{task}", http.HandlerFunc(s.monitor))
}

func (s *Service) taskService(c *call) (object, error) {
	return resourceOf(c.uri(), taskServiceSchema, "Task Service", object{"ServiceEnabled": true, "Status": enabled(),
		"CompletedTaskOverWritePolicy": "Oldest", "LifeCycleEventOnTaskStateChange": false, "Tasks": link(tasksURI)}), nil
}

func (s *Service) tasks(c *call) (object, error) {
	var members []object
	for _, h := range s.Machines.List() {
		state, _ := s.Machines.State(h.Machine)
		for _, t := range state.Tasks {
			members = append(members, link(taskURI(t.ID)))
		}
	}
	return collectionOf(c.uri(), tasksSchema, "Tasks", members), nil
}

// findTask looks through the machines: a Task's id is that of its request and tells nothing of the machine.
func (s *Service) findTask(c *call) (domain.Machine, projections.Task, error) {
	for _, h := range s.Machines.List() {
		state, _ := s.Machines.State(h.Machine)
		if t, ok := state.Task(c.v("task")); ok {
			return h.Machine, t, nil
		}
	}
	return domain.Machine{}, projections.Task{}, refuse(http.StatusNotFound, "ResourceNotFound", "task", c.v("task"))
}

func (s *Service) task(c *call) (object, error) {
	m, t, err := s.findTask(c)
	if err != nil {
		return nil, err
	}
	return s.taskOf(m, t), nil
}

// taskOf shows a task. PercentComplete is the import's own, and only where there is one.
func (s *Service) taskOf(m domain.Machine, t projections.Task) object {
	o := object{"TaskState": t.State, "TaskStatus": "OK", "StartTime": t.Start.UTC().Format(time.RFC3339),
		"TaskMonitor": monitorURI(t.ID), "Messages": []object{taskMessage(t)},
		"Description": t.Name + " of " + m.String(), "HidePayload": true}
	if !t.End.IsZero() {
		o["EndTime"] = t.End.UTC().Format(time.RFC3339)
	}
	switch t.State {
	case projections.TaskCompleted:
		o["PercentComplete"] = 100
	case projections.TaskException:
		o["TaskStatus"] = "Critical"
	case projections.TaskCancelled:
		o["TaskStatus"] = "Warning"
	default:
		if percent, ok := s.Machines.Progress(m, t.Seq); ok {
			o["PercentComplete"] = int(percent)
		}
	}
	return resourceOf(taskURI(t.ID), taskSchema, t.Name+" of "+m.String(), o)
}

// taskMessage tells how the task stands, in the words of the log.
func taskMessage(t projections.Task) object {
	key, severity := "TaskStarted", "OK"
	switch t.State {
	case projections.TaskCompleted:
		key = "TaskCompletedOK"
	case projections.TaskException:
		key, severity = "TaskAborted", "Critical"
	case projections.TaskCancelled:
		key, severity = "TaskCancelled", "Warning"
	case projections.TaskPending:
		key, severity = "TaskPaused", "OK"
	}
	text := t.Name + ": " + string(t.State)
	if t.Message != "" {
		text += ": " + t.Message
	}
	return object{"@odata.type": messageSchema.odataType(), "MessageId": "TaskEvent.1.0." + key, "Message": text,
		"MessageArgs": []string{t.ID}, "MessageSeverity": severity}
}

// monitor answers 202 with the Task while it goes on, and afterwards as the operation itself would have (DSP0266,
// "Asynchronous operations").
func (s *Service) monitor(w http.ResponseWriter, r *http.Request) {
	c := callOf(r)
	if !s.onlyGet(w, r) {
		return
	}
	m, t, err := s.findTask(c)
	if err != nil {
		s.fail(w, c, err)
		return
	}
	switch t.State {
	case projections.TaskCompleted:
		s.write(w, c, reply{status: http.StatusNoContent})
	case projections.TaskException:
		s.fail(w, c, refuse(http.StatusInternalServerError, "OperationFailed").saying("%s failed: %s", t.Name, t.Message))
	case projections.TaskCancelled:
		s.fail(w, c, refuse(http.StatusConflict, "OperationFailed").saying("%s was cancelled: %s", t.Name, t.Message))
	default:
		s.write(w, c, reply{status: http.StatusAccepted, location: monitorURI(t.ID), body: s.taskOf(m, t)})
	}
}
