package client

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOptionsAreReadFromTheEnvironment(t *testing.T) {
	t.Setenv("ARENA_TOKEN", " secret ")
	t.Setenv("ARENA_REFEREE", "a:1, [::1]:2,")
	t.Setenv("ARENA_STRICT", "1")
	options, err := OptionsFromEnvironment()
	if err != nil || options.Token != "secret" || options.TLS != nil || !options.Strict {
		t.Errorf("%+v, %v", options, err)
	}
	if want := []string{"a:1", "[::1]:2"}; !slices.Equal(options.Referees, want) {
		t.Errorf("referees %v, not %v", options.Referees, want)
	}
	t.Setenv("ARENA_REFEREE", "")
	options, err = OptionsFromEnvironment()
	if err != nil || !slices.Equal(options.Referees, []string{defaultReferee}) {
		t.Errorf("%+v, %v", options, err)
	}
}

func TestOptionsThatCannotBeUsedAreNamed(t *testing.T) {
	folder := t.TempDir()
	empty := filepath.Join(folder, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	authority := newAuthority(t)
	for name, test := range map[string]struct {
		variables map[string]string
		want      string
	}{
		"no token":                     {map[string]string{"ARENA_TOKEN": ""}, "ARENA_TOKEN: "},
		"no port":                      {map[string]string{"ARENA_REFEREE": "a:1,b"}, `ARENA_REFEREE: "b" is not an address: it takes a host and a port`},
		"an empty port":                {map[string]string{"ARENA_REFEREE": "b:"}, `ARENA_REFEREE: "b:" is not an address: `},
		"a port that is no number":     {map[string]string{"ARENA_REFEREE": "b:x"}, `ARENA_REFEREE: "b:x" is not an address: `},
		"only commas":                  {map[string]string{"ARENA_REFEREE": ","}, "ARENA_REFEREE: "},
		"authorities that are no file": {map[string]string{"ARENA_TLS_CA": folder + "/none"}, "ARENA_TLS_CA: "},
		"authorities without any":      {map[string]string{"ARENA_TLS_CA": empty}, "ARENA_TLS_CA: no certificate"},
		"a key without authorities":    {map[string]string{"ARENA_TLS_CLIENT_KEY": empty}, "ARENA_TLS_CA: not set"},
		"a key without certificate": {
			map[string]string{"ARENA_TLS_CA": authority.file, "ARENA_TLS_CLIENT_KEY": empty}, "ARENA_TLS_CLIENT_CERTIFICATE",
		},
		"an empty key": {
			map[string]string{
				"ARENA_TLS_CA": authority.file, "ARENA_TLS_CLIENT_CERTIFICATE": authority.file, "ARENA_TLS_CLIENT_KEY": empty,
			},
			"ARENA_TLS_CLIENT_CERTIFICATE, ARENA_TLS_CLIENT_KEY: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ARENA_TOKEN", "secret")
			for variable, value := range test.variables {
				t.Setenv(variable, value)
			}
			if _, err := OptionsFromEnvironment(); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, not %s…", err, test.want)
			}
		})
	}
}
