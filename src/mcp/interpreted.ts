import { z } from 'zod'

/**
 * Schemas of a session over stdio parse as they are: each is used a few times, and to compile it takes longer than all of
 * them together. It counts for schemas that are made afterwards, so it is loaded before any other module of this folder.
 */
z.config({ jitless: true })
