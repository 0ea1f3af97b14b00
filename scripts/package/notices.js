/** `THIRD-PARTY-NOTICES.md`: the licences of what is in a package and was written by others. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../build.js'

/** What stands inside of binaries and WebAssembly, which have no `package.json`. */
const INSIDE = [
  ['better-sqlite3', 'SQLite', 'in the public domain', ''],
  ['hnswlib-node', 'hnswlib', 'Apache-2.0', 'the authors of hnswlib'],
  ['tesseract.js-core', 'Tesseract', 'Apache-2.0', 'Google Inc. and the authors of Tesseract'],
  ['tesseract.js-core', 'Leptonica', 'BSD-2-Clause', '2001-2020 Leptonica'],
  ['@tesseract.js-data/eng', 'tessdata', 'Apache-2.0', 'Google Inc.'],
  ['@hyzyla/pdfium', 'PDFium', 'BSD-3-Clause', '2014 The PDFium Authors'],
  ['@oxdev03/node-tantivy-binding-linux-x64-gnu', 'Tantivy', 'MIT', '2018 by Paul Masurel and the authors of Tantivy'],
  ['unpdf', 'PDF.js', 'Apache-2.0', 'the Mozilla Foundation'],
]
const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i

/**
 * @param {(string | undefined)[]} folders of packages, as the lockfile names them; undefined is code of this project
 * @returns {string}
 */
export function notices(folders) {
  const packages = [...new Set(folders)].filter((folder) => folder !== undefined).map(read)
  packages.sort((a, b) => (a.name < b.name ? -1 : 1))
  const names = new Set(packages.map(({ name }) => name))
  const inside = INSIDE.filter(([name]) => names.has(name))
  return [
    '# Third-party notices\n',
    'This package holds code of the packages below, each under its own licence. Texts that several share stand once.\n',
    ...packages.map(({ name, version, licence }) => `- ${name} ${version}: ${licence}`),
    '\nInside of these:\n',
    ...inside.map(([name, what, licence, by]) => `- ${what} (in ${name}): ${licence}${by === '' ? '' : `, © ${by}`}`),
    ...texts(packages),
    ...['BSD-2-Clause', 'BSD-3-Clause'].map((kind) => `\n## ${kind}\n\n\`\`\`\n${bsd(kind)}\n\`\`\``),
    '',
  ].join('\n')
}

function read(folder) {
  const path = join(ROOT, folder)
  const { name, version, license, licenses, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const files = readdirSync(path).filter((file) => LICENCE_FILE.test(file))
  const text = files.map((file) => readFileSync(join(path, file), 'utf8').trim()).join('\n\n')
  const licence = license?.type ?? license ?? licenses?.map(({ type }) => type).join(', ')
  if (text === '' && licence === undefined) throw new Error(`${folder} says nothing of its licence`)
  return { name, version, licence: licence ?? 'see below', author: author?.name ?? author, text }
}

/** Each text once, with all whom it is of. A package that has none is named with what its `package.json` says. */
function texts(packages) {
  const byText = new Map()
  for (const { name, text, licence, author } of packages) {
    const said = text === '' ? `${licence}, by ${author ?? 'its authors'}; the package holds no text of it` : text
    byText.set(said, [...(byText.get(said) ?? []), name])
  }
  return [...byText].map(
    ([text, names]) => `\n## ${names.join(', ')}\n\n\`\`\`\n${text.replaceAll('```', "'''")}\n\`\`\``,
  )
}

function bsd(kind) {
  const third =
    kind === 'BSD-3-Clause'
      ? `
3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products
   derived from this software without specific prior written permission.
`
      : ''
  return `Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following
   disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
   disclaimer in the documentation and/or other materials provided with the distribution.
${third}
THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN
CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`
}
