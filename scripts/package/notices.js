/** Builds `THIRD-PARTY-NOTICES.md`: the licences of other projects whose code is in a package. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../build.js'

/** Projects inside of binaries and WebAssembly, which have no `package.json`: package, project, licence, copyright. */
const EMBEDDED_PROJECTS = [
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
 * @param {(string | undefined)[]} folders of packages, as the lockfile names them; undefined for code of this project
 * @returns {string}
 */
export function buildNotices(folders) {
  const packages = [...new Set(folders)].filter((folder) => folder !== undefined).map(readPackage)
  packages.sort((a, b) => (a.name < b.name ? -1 : 1))
  const names = new Set(packages.map(({ name }) => name))
  const embedded = EMBEDDED_PROJECTS.filter(([name]) => names.has(name))
  return [
    '# Third-party notices\n',
    'This package contains code of the packages below, each under its own licence. A text of several packages occurs once.\n',
    ...packages.map(({ name, version, licence }) => `- ${name} ${version}: ${licence}`),
    '\nInside of these:\n',
    ...embedded.map(
      ([name, project, licence, holder]) =>
        `- ${project} (in ${name}): ${licence}${holder === '' ? '' : `, © ${holder}`}`,
    ),
    ...formatTexts(packages),
    ...['BSD-2-Clause', 'BSD-3-Clause'].map((kind) => `\n## ${kind}\n\n\`\`\`\n${getBsdText(kind)}\n\`\`\``),
    '',
  ].join('\n')
}

function readPackage(folder) {
  const path = join(ROOT, folder)
  const { name, version, license, licenses, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const files = readdirSync(path).filter((file) => LICENCE_FILE.test(file))
  const text = files.map((file) => readFileSync(join(path, file), 'utf8').trim()).join('\n\n')
  const licence = license?.type ?? license ?? licenses?.map(({ type }) => type).join(', ')
  if (text === '' && licence === undefined) throw new Error(`${folder} does not state its licence`)
  return { name, version, licence: licence ?? 'see below', author: author?.name ?? author, text }
}

/** The distinct texts of licences with the packages of each. For a package without one, `package.json` is quoted. */
function formatTexts(packages) {
  const namesByText = new Map()
  for (const { name, text: licenceText, licence, author } of packages) {
    const text = licenceText || `${licence}, by ${author ?? 'its authors'}; the package does not contain its text`
    namesByText.set(text, [...(namesByText.get(text) ?? []), name])
  }
  return [...namesByText].map(
    ([text, names]) => `\n## ${names.join(', ')}\n\n\`\`\`\n${text.replaceAll('```', "'''")}\n\`\`\``,
  )
}

function getBsdText(kind) {
  const thirdClause =
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
${thirdClause}
THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN
CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`
}
