#!/usr/bin/env node
// CommonJS, like all files in `bin`: the ES module loader would take half as much time as the program.
'use strict'
const { readFileSync } = require('node:fs')
const { join } = require('node:path')

const argv = process.argv.slice(2)
const root = join(__dirname, '..', '/')

// People and scripts often request the version, which needs no other code.
if (argv[0] === '--version') {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  process.stdout.write(`ks ${version}\n`)
} else if (!require('./complete.js').handleCompletion(argv, 'ks')) {
  void run()
}

async function run() {
  const bundle = require('./bundle.js').loadBundle(join(root, 'dist', 'bundle', 'ks'))
  // the same program in more files, without a bundle
  const { main } = bundle ?? (await import('../dist/cli/main.js'))
  await main(argv, root)
}
