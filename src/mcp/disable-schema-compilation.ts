import { z } from 'zod'

/**
 * Disables compilation of schemas for sessions over stdio: each schema is used a few times, and compiling takes longer
 * than all uses together. It affects schemas created afterwards, so this module is loaded before any other of this
 * folder.
 */
z.config({ jitless: true })
