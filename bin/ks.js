#!/usr/bin/env node
// CommonJS, as all of `bin`: the loader of ES modules would cost as much as half of the program.
'use strict'
const { readFileSync } = require('node:fs')
const { join } = require('node:path')

const argv = process.argv.slice(2)
const root = join(__dirname, '..', '/')

// The version is asked for often, by people and scripts, and needs nothing of the rest.
if (argv[0] === '--version') {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  process.stdout.write(`ks ${version}\n`)
} else if (!require('./complete.js').completes(argv, 'ks')) {
  void run()
}

async function run() {
  const bundle = require('./bundle.js').loadBundle(join(root, 'dist', 'bundle', 'ks'))
  // the same in more files, where the build could not make it
  const { main } = bundle ?? (await import('../dist/cli/main.js'))
  await main(argv, root)
}
