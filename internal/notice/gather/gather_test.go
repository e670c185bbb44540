package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/notice"
)

const root = "../../.."

// told says whether a work has a notice of that version in the binary.
func told(t *testing.T) func(kind, name, version string) bool {
	t.Helper()
	all, err := notice.All()
	if err != nil {
		t.Fatal(err)
	}
	return func(kind, name, version string) bool {
		return slices.ContainsFunc(all, func(n notice.Notice) bool {
			return n.Kind == kind && n.Name == name && n.Version == version
		})
	}
}

func TestEveryLinkedModuleHasANotice(t *testing.T) {
	t.Parallel()
	found, err := linkedModules(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 20 {
		t.Fatalf("only %d modules are linked, want at least 20: what was listed?", len(found))
	}
	has := told(t)
	for _, m := range found {
		if !has(notice.Module, m.path, m.version) {
			t.Errorf("%s %s is linked and has no notice. Run: make generate", m.path, m.version)
		}
	}
	if !has(notice.Module, "Go", "") {
		t.Error("Go is linked and has no notice")
	}
}

func TestEveryPackageOfThePageHasANotice(t *testing.T) {
	t.Parallel()
	found, err := bundled(filepath.Join(root, "web/package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	has := told(t)
	for _, p := range found {
		names[p.name] = true
		if !has(notice.Page, p.name, p.version) {
			t.Errorf("%s %s is bundled and has no notice. Run: make generate", p.name, p.version)
		}
	}
	for _, want := range []string{"react", "katex", "@xyflow/react", "vite"} {
		if !names[want] {
			t.Errorf("%s is not among what the page is built from", want)
		}
	}
	for _, tool := range []string{"eslint", "vitest", "@types/react"} {
		if names[tool] {
			t.Errorf("%s is told, but the page does not carry it", tool)
		}
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	const mit = "Permission is hereby granted, free of charge, to any person obtaining a copy\n * of this software and associated documentation files (the \"Software\")"
	const two = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted"
	const three = two + "\n// Neither the name nor the names may be used to endorse or promote products\n// derived from this"
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"MIT":               {mit, "MIT"},
		"BSDOfTwo":          {two, "BSD-2-Clause"},
		"BSDOfThree":        {three, "BSD-3-Clause"},
		"BothInOneFile":     {three + "\n\n" + two, "BSD-2-Clause BSD-3-Clause"},
		"ISC":               {"Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted", "ISC"},
		"Apache":            {"Apache License\nVersion 2.0\nTERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION", "Apache-2.0"},
		"TwoOfDifferent":    {"TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION\n" + mit, "Apache-2.0 MIT"},
		"AMentionIsNoGrant": {"This file is under the MIT licence, see elsewhere.", ""},
		"Unknown":           {"All rights reserved.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(identify(c.text), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatNobodyKnowsIsAnError(t *testing.T) {
	t.Parallel()
	free := notice.Text{File: "LICENSE", Text: "This is free and unencumbered software released into the public domain."}
	for name, c := range map[string]struct {
		texts []notice.Text
		want  string
	}{
		"NoText":           {nil, "no licence"},
		"OnlyPatents":      {[]notice.Text{{File: "PATENTS", Text: "a grant"}}, "no licence"},
		"UnknownLicence":   {[]notice.Text{{File: "LICENSE", Text: "Ask my lawyer."}}, "not known"},
		"OneOfTwoUnknown":  {[]notice.Text{free, {File: "sub/LICENSE.md", Text: "Ask my lawyer."}}, "not known"},
		"OnlyThirdParties": {[]notice.Text{{File: "LICENSE-3RD-PARTY.md", Text: free.Text}}, "no licence"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n, err := named("example.org/work", "v1", notice.Module, c.texts); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v and the error %v, want one with %q", n, err, c.want)
			}
		})
	}
	if n, err := named("example.org/work", "v1", notice.Module, []notice.Text{free, {File: "NOTICE", Text: "by me"}}); err != nil || n.License != "Unlicense" {
		t.Errorf("a licence with a notice beside it: got %q and %v, want Unlicense", n.License, err)
	}
}

// TestLicencesOnTheWay: a folder inside a module may be somebody else's work.
func TestLicencesOnTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"LICENSE", "LICENSE.docs", "license_test.go", "inner/COPYING", "inner/deep/x.go", "other/LICENSE"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &linked{path: "example.org/work", dir: dir, folders: map[string]bool{filepath.Join(dir, "inner/deep"): true}}
	texts, err := m.texts()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, text := range texts {
		got = append(got, text.File)
	}
	if want := []string{"LICENSE", "inner/COPYING"}; !slices.Equal(got, want) {
		t.Errorf("got the files %q, want %q", got, want)
	}
}

func TestAFontWithoutANoticeIsAnError(t *testing.T) {
	t.Chdir(root)
	all, err := notice.All()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := fonts(all); err != nil || n.License != "OFL-1.1" {
		t.Errorf("the fonts of the page: got %q and %v, want OFL-1.1", n.License, err)
	}
	for name, known := range map[string]bool{"Serif-Bold-1234": false, "interstate-latin-1234": false, "inter-latin-wght-normal-1234": true, "jetbrains-mono-latin-wght-normal-1234": true} {
		t.Chdir(t.TempDir())
		if err := os.MkdirAll("web/dist/assets", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("web/dist/assets/"+name+".woff2", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := fonts(all)
		if known && err != nil {
			t.Errorf("the font %s is of a package that has a notice: got %v", name, err)
		}
		if !known && (err == nil || !strings.Contains(err.Error(), "no notice")) {
			t.Errorf("the font %s, of another family: got %v, want an error that it has no notice", name, err)
		}
	}
}

func TestTheLettersOfThePageHaveTheirLicence(t *testing.T) {
	t.Parallel()
	all, err := notice.All()
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]string{"inter": "The Inter Project Authors", "jetbrains-mono": "The JetBrains Mono Project Authors"} {
		i := slices.IndexFunc(all, func(n notice.Notice) bool { return n.Name == faces+name })
		if i < 0 || all[i].License != "OFL-1.1" || len(all[i].Texts) != 1 || !strings.Contains(all[i].Texts[0].Text, by) {
			t.Errorf("%s is embedded: want its notice with OFL-1.1 and the names of its authors", name)
		}
	}
}
