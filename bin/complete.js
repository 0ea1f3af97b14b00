'use strict'
const { join } = require('node:path')

/** first argument of the calls by shells' completion scripts; not a command */
const COMPLETE = '__complete'

/**
 * Answers a completion request of a shell with as little code as possible: the program itself is not loaded.
 *
 * @param {string[]} argv
 * @param {'ks' | 'kchat'} program
 * @returns {boolean} whether the call is a completion request
 */
exports.handleCompletion = (argv, program) => {
  if (argv[0] !== COMPLETE) return false
  void run(argv.slice(1), program)
  return true
}

async function run(argv, program) {
  const folder = join(__dirname, '..', 'dist')
  const bundle = require('./bundle.js').loadBundle(join(folder, 'bundle', `complete-${program}`))
  const { complete } = bundle ?? (await import(join(folder, program === 'ks' ? 'cli' : 'kchat', 'complete.js')))
  await complete(argv)
  // no work is pending
  process.exit(0)
}
