package redfish

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const published = "http://redfish.dmtf.org/schemas/v1/"

// schemaDir finds DMTF's JSON schemas, which are not part of this repository.
func schemaDir(t *testing.T) string {
	for _, dir := range []string{os.Getenv("REDFISH_SCHEMAS"), "../../../shared/redfish/json-schema"} {
		if _, err := os.Stat(filepath.Join(dir, "odata-v4.json")); dir != "" && err == nil {
			return dir
		}
	}
	const missing = "DMTF's JSON schemas are not there: set REDFISH_SCHEMAS to their folder"
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// schemaFiles loads schemas from a folder, never from the network. The folder has one version of each: alternatives that
// it has not are dropped, and a resource of a schema that it has not may only be linked.
type schemaFiles struct{ dir string }

func (f schemaFiles) Load(url string) (any, error) {
	if !strings.Contains(url, "redfish.dmtf.org/schemas/") {
		return nil, fmt.Errorf("%s is no DMTF schema", url)
	}
	file, err := os.Open(filepath.Join(f.dir, path.Base(url)))
	if err != nil {
		return map[string]any{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": map[string]any{}}, nil
	}
	defer func() { _ = file.Close() }()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		return nil, err
	}
	f.prune(doc)
	return doc, nil
}

var versioned = regexp.MustCompile(`\.v\d+_\d+_\d+\.json$`)

func (f schemaFiles) prune(node any) {
	switch n := node.(type) {
	case map[string]any:
		if list, ok := n["anyOf"].([]any); ok {
			n["anyOf"] = f.present(list)
		}
		if ref, ok := n["$ref"].(string); ok && !f.has(ref) {
			delete(n, "$ref")
			file, definition, _ := strings.Cut(ref, "#")
			if stem, _, _ := strings.Cut(path.Base(file), "."); path.Base(definition) == stem {
				n["$ref"] = published + "odata-v4.json#/definitions/idRef"
			}
		}
		for _, child := range n {
			f.prune(child)
		}
	case []any:
		for _, child := range n {
			f.prune(child)
		}
	}
}

// present keeps the alternatives that can be loaded, or all when there would be none left.
func (f schemaFiles) present(list []any) []any {
	var keep []any
	for _, alternative := range list {
		m, _ := alternative.(map[string]any)
		ref, _ := m["$ref"].(string)
		if versioned.MatchString(strings.SplitN(ref, "#", 2)[0]) && !f.has(ref) {
			continue
		}
		keep = append(keep, alternative)
	}
	if keep == nil {
		return list
	}
	return keep
}

func (f schemaFiles) has(ref string) bool {
	file, _, _ := strings.Cut(ref, "#")
	if !strings.HasPrefix(file, "http") {
		return true
	}
	_, err := os.Stat(filepath.Join(f.dir, path.Base(file)))
	return err == nil
}

// validator compiles the schema of an @odata.type.
type validator struct {
	t        *testing.T
	compiler *jsonschema.Compiler
}

func newValidator(t *testing.T) validator {
	c := jsonschema.NewCompiler()
	c.UseLoader(schemaFiles{dir: schemaDir(t)})
	c.AssertFormat()
	return validator{t: t, compiler: c}
}

func (v validator) check(file, raw, what string) {
	v.t.Helper()
	s, err := v.compiler.Compile(published + file)
	require.NoError(v.t, err, file)
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	require.NoError(v.t, err, what)
	assert.NoError(v.t, s.Validate(instance), what)
}

func TestEveryResourceIsValidByItsSchema(t *testing.T) {
	v := newValidator(t)
	r := busy(t)
	for uri, a := range r.crawl() {
		kind := strings.TrimPrefix(a.body["@odata.type"].(string), "#")
		v.check(kind[:strings.LastIndexByte(kind, '.')]+".json", a.raw, uri)
	}
}

func TestErrorsAreValidByTheirSchema(t *testing.T) {
	v := newValidator(t)
	r := newRig(t)
	for what, a := range map[string]answered{
		"404": r.get("/redfish/v1/Nothing"),
		"401": r.get(webURI, "Authorization: "),
		"400": r.reset("Explode"),
		"405": r.send(http.MethodDelete, webURI, ""),
	} {
		v.check("redfish-error.v1_0_2.json", a.raw, what)
	}
}

// The schema check has to notice what is wrong, or it proves nothing.
func TestTheSchemaCheckNoticesAnError(t *testing.T) {
	v := newValidator(t)
	r := newRig(t)
	raw := strings.Replace(r.get(webURI).raw, `"PowerState":"Off"`, `"PowerState":"Sleepy"`, 1)
	s, err := v.compiler.Compile(published + "ComputerSystem.v1_27_0.json")
	require.NoError(t, err)
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	require.NoError(t, err)
	assert.Error(t, s.Validate(instance))
}
