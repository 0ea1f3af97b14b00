import { z } from 'zod'
import { route } from '../../contract/route.js'

const secret = z.string().min(1).max(2000)
const seconds = z.int().min(1)
const MAX_TOKEN_DAYS = 90
const session = z.strictObject({ id: z.string(), token: z.string(), renewal: z.string(), expiresInSeconds: seconds })

/**
 * Routes by which the page of `ks console` gets its session. Internal to this program, so not part of the API. The
 * secrets are never stored for a repeat of the request.
 */
export const consoleRoutes = [
  route({
    id: 'createConsoleCode',
    method: 'POST',
    path: '/daemon/console/codes',
    scope: 'read',
    only: 'operator-outside-tabs',
    summary: 'Create a code that one page of the console may exchange for a session of the operator.',
    ok: { 201: z.strictObject({ code: z.string(), sessionId: z.string(), expiresInSeconds: seconds }) },
    shownOnce: ['code'],
    errors: [],
  }),
  route({
    id: 'createConsoleSession',
    method: 'POST',
    path: '/daemon/console/sessions',
    scope: 'public',
    summary: 'Exchange a code for a session.',
    body: z.strictObject({ code: secret }),
    ok: { 201: session },
    shownOnce: ['token', 'renewal'],
    errors: [400],
  }),
  route({
    id: 'renewConsoleSession',
    method: 'POST',
    path: '/daemon/console/sessions/renew',
    scope: 'public',
    summary: 'Renew an active session.',
    body: z.strictObject({ renewal: secret }),
    ok: { 201: session },
    shownOnce: ['token', 'renewal'],
    errors: [400],
  }),
  route({
    id: 'createConsoleToken',
    method: 'POST',
    path: '/daemon/console/tokens',
    scope: 'write',
    only: 'operator',
    summary:
      'Sign a token for a program: never with the rights of the operator, and from a tab never beyond its session.',
    body: z.strictObject({
      subject: z.string().trim().min(1).max(200),
      write: z.boolean(),
      days: z.int().min(1).max(MAX_TOKEN_DAYS),
    }),
    ok: { 201: z.strictObject({ token: z.string(), jti: z.string(), expiresAt: z.string() }) },
    shownOnce: ['token'],
    errors: [400],
  }),
] as const
