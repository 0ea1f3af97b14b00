import { z } from 'zod'
import { metadata } from '../primitives.js'
import { route } from '../route.js'

export const Health = z
  .strictObject({
    ok: z.boolean(),
    runtime: z.enum(['edge-workers', 'container-runtime']),
    components: z.record(z.string(), z.boolean()),
  })
  .meta({ id: 'Health' })
export type Health = z.output<typeof Health>

export const systemRoutes = [
  route({
    id: 'getHealth',
    method: 'GET',
    path: '/health',
    scope: 'public',
    summary: 'Whether the service and its parts work.',
    ok: { 200: Health },
    errors: [],
  }),
  route({
    id: 'getOpenapi',
    method: 'GET',
    path: '/openapi.json',
    scope: 'public',
    summary: 'This description.',
    ok: { 200: metadata },
    errors: [],
  }),
] as const
