package redfish

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

// DSP0266, "Asynchronous operations": the monitor is 202 with the Task while it goes on, and then what the operation
// itself would have answered.
func TestATaskIsFollowed(t *testing.T) {
	r := newRig(t)
	a := r.insert()
	monitor, task := a.header.Get("Location"), a.body["@odata.id"].(string)
	assert.Equal(t, "Running", a.body["TaskState"])
	assert.EqualValues(t, 42, a.body["PercentComplete"], "the import's own")
	assert.Equal(t, monitor, a.body["TaskMonitor"])
	poll := r.get(monitor)
	assert.Equal(t, http.StatusAccepted, poll.status)
	assert.Equal(t, monitor, poll.header.Get("Location"))
	assert.NotEmpty(t, poll.header.Get("Retry-After"))
	assert.Equal(t, task, poll.body["@odata.id"])
	assert.Contains(t, r.get("/redfish/v1/TaskService/Tasks").raw, task)
	r.pass(90 * time.Second)
	r.machines.happen(web, 2, domain.ImportStarted{}, domain.ImportCompleted{}, domain.MediaInserted{})
	assert.Equal(t, http.StatusNoContent, r.get(monitor).status)
	done := r.get(task)
	assert.Equal(t, "Completed", done.body["TaskState"])
	assert.EqualValues(t, 100, done.body["PercentComplete"])
	assert.Equal(t, "2026-03-01T10:01:30Z", done.body["EndTime"])
	assert.Equal(t, http.StatusMethodNotAllowed, r.post(monitor, `{}`).status)
}

func TestAFailedTaskSaysWhy(t *testing.T) {
	r := newRig(t)
	a := r.insert()
	on := r.reset("On")
	r.machines.happen(web, 2, domain.ImportFailed{Reason: "404 Not Found"})
	r.machines.happen(web, 3, domain.PowerCancelled{Reason: "the import failed"})
	task := r.get(a.body["@odata.id"].(string))
	assert.Equal(t, "Exception", task.body["TaskState"])
	assert.Equal(t, "Critical", task.body["TaskStatus"])
	assert.Contains(t, task.raw, "404 Not Found")
	final := r.get(a.header.Get("Location"))
	assert.Equal(t, http.StatusInternalServerError, final.status)
	assert.Equal(t, "OperationFailed", final.key())
	assert.Contains(t, final.raw, "404 Not Found")
	cancelled := r.get(on.header.Get("Location"))
	assert.Equal(t, http.StatusConflict, cancelled.status)
	assert.Equal(t, "Cancelled", r.get(on.body["@odata.id"].(string)).body["TaskState"])
}

func TestATaskThatIsForgottenIsNoTask(t *testing.T) {
	r := newRig(t)
	a := r.insert()
	require.Equal(t, http.StatusOK, r.get(a.body["@odata.id"].(string)).status)
	state := r.machines.states[web.UID]
	state.Tasks = nil
	r.machines.states[web.UID] = state
	assert.Equal(t, http.StatusNotFound, r.get(a.header.Get("Location")).status)
}
