package redfish

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInsertParameters(t *testing.T) {
	with := func(more string) string { return `{"Image":"https://h/a.iso",` + more + `}` }
	for name, row := range map[string]struct{ body, key string }{
		"all that is fine":          {with(`"Inserted":true,"WriteProtected":true,"TransferMethod":"Stream","TransferProtocolType":"HTTPS","UserName":"u","Password":"p","VerifyCertificate":true`), ""},
		"nulls":                     {with(`"Inserted":null,"WriteProtected":null,"TransferMethod":null,"UserName":null,"Password":null`), ""},
		"annotations":               {with(`"@odata.type":"x"`), ""},
		"Inserted false":            {with(`"Inserted":false`), "ActionParameterValueNotInList"},
		"writable":                  {with(`"WriteProtected":false`), "ActionParameterValueNotInList"},
		"upload":                    {with(`"TransferMethod":"Upload"`), "ActionParameterValueNotInList"},
		"another protocol":          {with(`"TransferProtocolType":"NFS"`), "ActionParameterValueConflict"},
		"user without password":     {with(`"UserName":"u"`), "ActionParameterMissing"},
		"password without user":     {with(`"Password":"p"`), "ActionParameterMissing"},
		"Inserted a string":         {with(`"Inserted":"yes"`), "ActionParameterValueTypeError"},
		"Image a number":            {`{"Image":1}`, "ActionParameterValueTypeError"},
		"Image empty":               {`{"Image":""}`, "ActionParameterMissing"},
		"user info and credentials": {`{"Image":"https://u:p@h/a.iso","UserName":"u","Password":"p"}`, "ActionParameterValueConflict"},
		"user info, no password":    {insertBody("https://u@h/a.iso"), "ActionParameterMissing"},
		"too long":                  {insertBody("https://h/" + strings.Repeat("a", maxImage)), "ActionParameterValueFormatError"},
		"unknown":                   {with(`"image":"x"`), "ActionParameterUnknown"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := r.post(insertURI, row.body)
			assert.Equal(t, row.key, a.key(), a.raw)
			assert.Equal(t, row.key == "", len(r.machines.requests) == 1)
		})
	}
}

func TestWhereImagesComeFrom(t *testing.T) {
	for image, allowed := range map[string]bool{
		"http://images.example/boot.iso":                true,
		"https://images.example:8443/a/b%20c.iso?x=1&y": true,
		"http://10.0.0.7/boot-0f3c.iso":                 true,
		"http://[2001:db8::7]/a.iso":                    true,
		"http://1.example/a.iso":                        true,
		"HTTP://h/a.iso":                                true,
		"file:///etc/passwd":                            false,
		"ftp://h/a.iso":                                 false,
		"nfs://h/a.iso":                                 false,
		"/a.iso":                                        false,
		"http:///a.iso":                                 false,
		"http:a.iso":                                    false,
		"http://h/a.iso;$(touch x)":                     false,
		"http://h/$(touch%20x).iso":                     false,
		"http://h/`id`.iso":                             false,
		"http://h/a.iso\\u0000":                         false,
		"http://h/a b.iso":                              false,
		"http://h/%zz":                                  false,
		"http://169.254.169.254/latest/meta-data":       false,
		"http://169.254.0.1/":                           false,
		"http://[fe80::1]/a.iso":                        false,
		"http://[fe80::1%25eth0]/a.iso":                 false,
		"http://[::ffff:169.254.169.254]/a.iso":         false,
		"http://[64:ff9b::a9fe:a9fe]/a.iso":             false,
		"http://[::ffff:0.1.2.3]/a.iso":                 false,
		"http://[fd00:ec2::254%25eth0]/a.iso":           false,
		"http://[fd00:ec2::254]/a.iso":                  false,
		"http://169.254.169.254./a.iso":                 false,
		"http://2852039166/a.iso":                       false,
		"http://0xa9fea9fe/a.iso":                       false,
		"http://0251.0376.0251.0376/a.iso":              false,
		"http://127.1/a.iso":                            false,
		"http://0.0.0.0/a.iso":                          false,
		"http://[::]/a.iso":                             false,
		"http://224.0.0.1/a.iso":                        false,
		"http://metadata.google.internal/a.iso":         false,
		"http://127.0.0.1:8080/a.iso":                   false,
		"http://[::1]/a.iso":                            false,
		"http://LocalHost/a.iso":                        false,
		"http://x.localhost./a.iso":                     false,
	} {
		_, err := ImageAddresses{}.readInsert(object{"Image": image})
		assert.Equal(t, allowed, err == nil, image)
		if err != nil {
			assert.Equal(t, 400, faultOf(err, "").status, image)
		}
	}
}

func TestLoopbackAndFurtherRefusalsAreConfigured(t *testing.T) {
	for _, image := range []string{"http://127.0.0.1:8080/a.iso", "http://[::1]/a.iso", "http://localhost/a.iso"} {
		_, err := ImageAddresses{Loopback: true}.check(image)
		assert.NoError(t, err, image)
	}
	_, err := ImageAddresses{Loopback: true}.check("http://169.254.169.254/a.iso")
	assert.Error(t, err)
	_, err = ImageAddresses{Refused: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}.check("http://10.1.2.3/a.iso")
	require.Error(t, err)
}
