/** Programming and configuration languages by file ending, and by full name for files without one. */
const LANGUAGE_BY_ENDING = new Map<string, string>()

const ENDINGS: Record<string, string> = {
  bash: 'sh bash zsh fish ksh',
  batch: 'bat cmd',
  c: 'c h',
  clojure: 'clj cljs edn',
  cmake: 'cmake',
  cpp: 'cpp cc cxx hpp hh hxx ino',
  csharp: 'cs',
  css: 'css scss sass less',
  dart: 'dart',
  diff: 'diff patch',
  elixir: 'ex exs',
  erlang: 'erl hrl',
  fsharp: 'fs fsx',
  go: 'go',
  graphql: 'graphql gql',
  groovy: 'groovy gradle',
  haskell: 'hs',
  hcl: 'tf hcl tfvars',
  ini: 'ini cfg conf properties env editorconfig gitconfig',
  java: 'java',
  javascript: 'js mjs cjs jsx',
  julia: 'jl',
  kotlin: 'kt kts',
  latex: 'tex sty cls bib',
  lisp: 'lisp el scm rkt',
  lua: 'lua',
  makefile: 'mk',
  nix: 'nix',
  objectivec: 'm mm',
  ocaml: 'ml mli',
  pascal: 'pas',
  perl: 'pl pm',
  php: 'php',
  powershell: 'ps1 psm1',
  proto: 'proto',
  python: 'py pyi pyw',
  r: 'r',
  ruby: 'rb rake gemspec',
  rust: 'rs',
  scala: 'scala sc',
  solidity: 'sol',
  sql: 'sql',
  svelte: 'svelte',
  swift: 'swift',
  toml: 'toml',
  typescript: 'ts tsx mts cts',
  vb: 'vb vbs',
  vim: 'vim',
  vue: 'vue',
  zig: 'zig',
}
for (const [language, endings] of Object.entries(ENDINGS)) {
  for (const ending of endings.split(' ')) LANGUAGE_BY_ENDING.set(ending, language)
}

const LANGUAGE_BY_NAME = new Map([
  ['dockerfile', 'dockerfile'],
  ['containerfile', 'dockerfile'],
  ['makefile', 'makefile'],
  ['gnumakefile', 'makefile'],
  ['rakefile', 'ruby'],
  ['gemfile', 'ruby'],
  ['jenkinsfile', 'groovy'],
  ['cmakelists.txt', 'cmake'],
])

/** The language of a file by its name, if known. */
export function findFileLanguage(filename: string): string | undefined {
  const name = filename.slice(filename.lastIndexOf('/') + 1).toLowerCase()
  return LANGUAGE_BY_NAME.get(name) ?? LANGUAGE_BY_ENDING.get(name.slice(name.lastIndexOf('.') + 1))
}

/** Media type of source code: `text/x-` plus the language, except for the few registered types. */
export function toLanguageMediaType(language: string): string {
  if (language === 'css' || language === 'javascript') return `text/${language}`
  return `text/x-${language}`
}
