import './visitor.css'
import type { ChatInfo, ChatParameters, Site } from '../../contract/chat/application.js'
import { type ChatClient, ChatFailure, chatClient, type Messages, type Visit } from '../chat/client.js'
import { rateTurn, runTurn, stopTurn, type Turn } from '../chat/turn.js'
import { element, textBlocks } from './elements.js'
import { inputsForm } from './inputs.js'

/** Page of one application for visitors: small, without a framework, and without the application's key. */
const appId = location.pathname.split('/').at(-1) ?? ''
const KEPT = `ks.chat.${appId}`
const root = document.getElementById('chat')

if (root !== null) start(root).catch((error: unknown) => root.replaceChildren(problem(error)))

async function start(place: HTMLElement): Promise<void> {
  const client = chatClient((before) => begin(before ?? kept('token')))
  const user = await client.user()
  const [site, info, parameters] = await Promise.all([
    client.read<Partial<Site>>('/site'),
    client.read<ChatInfo>('/info'),
    client.read<ChatParameters>('/parameters', { user }),
  ])
  const title = site.title || info.name
  document.title = title
  const talk = element('main', { className: 'talk', tabIndex: -1 })
  const form = composer()
  const inputs = inputsForm(parameters.user_input_form)
  let conversationId = kept('conversation')
  let running: Turn | undefined

  const ask = async (question: string) => {
    if (running !== undefined || question.trim() === '' || !inputs.isComplete()) return
    const turn = turnView(client)
    talk.append(turn.view)
    form.setRunning(true)
    suggestions.replaceChildren()
    const abort = new AbortController()
    const done = await runTurn(
      {
        client,
        question: question.trim(),
        conversationId,
        inputs: inputs.values(),
        suggests: parameters.suggested_questions_after_answer.enabled,
        signal: abort.signal,
      },
      (now) => {
        const isFirst = running === undefined
        running = now
        turn.show(now)
        if (isFirst) turn.view.scrollIntoView({ block: 'start' })
      },
    )
    running = undefined
    form.setRunning(false)
    if (done.conversationId !== undefined) {
      conversationId = done.conversationId
      keep('conversation', conversationId)
      inputs.view.hidden = true
    }
    suggest(done.suggested)
  }
  const suggestions = element('div', { className: 'suggestions' })
  const suggest = (questions: readonly string[]) =>
    suggestions.replaceChildren(
      ...questions.map((text) => element('button', { type: 'button', onclick: () => void ask(text) }, text)),
    )
  form.onAsk = (text) => void ask(text)
  form.onStop = () => {
    if (running !== undefined) void stopTurn(client, running).catch(() => undefined)
  }
  const anew = element('button', { type: 'button', className: 'quiet' }, 'New conversation')
  anew.onclick = () => {
    if (running !== undefined) return
    conversationId = undefined
    keep('conversation', undefined)
    inputs.view.hidden = false
    talk.replaceChildren(...opening(parameters.opening_statement))
    suggest(parameters.suggested_questions)
  }
  place.replaceChildren(
    element('header', {}, element('h1', {}, title), anew),
    talk,
    suggestions,
    inputs.view,
    form.view,
    foot(site),
  )
  talk.append(...opening(parameters.opening_statement))
  if (conversationId === undefined) suggest(parameters.suggested_questions)
  else if (await restore(client, talk, conversationId)) inputs.view.hidden = true
  else {
    conversationId = undefined
    suggest(parameters.suggested_questions)
  }
}

async function begin(before: string | undefined): Promise<Visit> {
  const response = await fetch(`/chat/${encodeURIComponent(appId)}/visits`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(before === undefined ? {} : { before }),
  })
  if (!response.ok) throw new ChatFailure(response.status, '', 'This chat is not open now. Please try again later.')
  const visit: Visit = await response.json()
  keep('token', visit.token)
  return visit
}

/** @returns whether the conversation still exists */
async function restore(client: ChatClient, talk: HTMLElement, conversationId: string): Promise<boolean> {
  try {
    const query = { conversation_id: conversationId, user: await client.user(), limit: '20' }
    const { data } = await client.read<Messages>('/messages', query)
    for (const { id, query: question, answer, retriever_resources: sources, feedback, error } of data) {
      const turn = turnView(client)
      turn.show({
        question,
        answer,
        sources,
        state: 'done',
        steps: [],
        suggested: [],
        messageId: id,
        ...(feedback === null ? {} : { rating: feedback.rating }),
        ...(error === null ? {} : { error }),
      })
      talk.append(turn.view)
    }
    return data.length > 0
  } catch {
    keep('conversation', undefined)
    return false
  }
}

function composer() {
  const input = element('textarea', {
    rows: 2,
    placeholder: 'Your question',
    ariaLabel: 'Your question',
    maxLength: 4000,
  })
  const button = element('button', { type: 'submit', className: 'primary' }, 'Send')
  const view = element('form', { className: 'composer' }, input, button)
  let isRunning = false
  const made = {
    view,
    onAsk: (_text: string) => {},
    onStop: () => {},
    setRunning: (runs: boolean) => {
      isRunning = runs
      button.textContent = runs ? 'Stop' : 'Send'
    },
  }
  const submit = () => {
    if (isRunning) return made.onStop()
    const { value } = input
    if (value.trim() === '') return
    input.value = ''
    made.onAsk(value)
  }
  view.onsubmit = (event) => {
    event.preventDefault()
    submit()
  }
  input.onkeydown = (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || isRunning) return
    event.preventDefault()
    submit()
  }
  return made
}

function turnView(client: ChatClient) {
  const question = element('p', { className: 'question' })
  const answer = element('div', { className: 'answer', ariaLive: 'polite' })
  const rest = element('div', { className: 'rest' })
  const view = element('article', {}, question, answer, rest)
  const show = (turn: Turn) => {
    question.textContent = turn.question
    if (turn.answer === '' && turn.state === 'running')
      answer.replaceChildren(element('p', { className: 'faint' }, '…'))
    else answer.replaceChildren(...textBlocks(turn.answer))
    if (turn.state === 'running') return
    rest.replaceChildren(
      ...(turn.error === undefined ? [] : [element('p', { className: 'error', role: 'alert' }, turn.error)]),
      ...(turn.state === 'stopped' ? [element('p', { className: 'faint' }, 'Stopped.')] : []),
      ...passages(turn),
      ...(turn.messageId === undefined ? [] : [ratings(client, turn, show)]),
    )
  }
  return { view, show }
}

function passages({ sources }: Turn): HTMLElement[] {
  if (sources.length === 0) return []
  const items = sources.map(({ document_name, content, source_url }) => {
    const isLink = source_url !== undefined && /^https?:\/\//.test(source_url)
    const name = isLink
      ? element('a', { href: source_url, target: '_blank', rel: 'noreferrer noopener' }, document_name)
      : element('strong', {}, document_name)
    return element('li', {}, name, element('p', { className: 'faint' }, content.slice(0, 300)))
  })
  const title = sources.length === 1 ? '1 passage' : `${sources.length} passages`
  return [element('details', {}, element('summary', {}, title), element('ol', {}, ...items))]
}

function ratings(client: ChatClient, turn: Turn, show: (turn: Turn) => void): HTMLElement {
  const button = (rating: 'like' | 'dislike', words: string) => {
    const isSet = turn.rating === rating
    const made = element('button', { type: 'button', className: 'quiet', ariaPressed: String(isSet) }, words)
    made.onclick = async () => {
      const { rating: _, ...without } = turn
      const next: Turn = isSet ? without : { ...turn, rating }
      await rateTurn(client, turn, next.rating).then(
        () => show(next),
        () => undefined,
      )
    }
    return made
  }
  return element('div', { className: 'ratings' }, button('like', 'Helpful'), button('dislike', 'Not helpful'))
}

function opening(text: string): HTMLElement[] {
  return text === '' ? [] : [element('p', { className: 'opening' }, text)]
}

function foot({ copyright, custom_disclaimer }: Partial<Site>): HTMLElement {
  const words = [custom_disclaimer, copyright].filter((text) => text !== undefined && text !== '')
  return element('footer', { className: 'faint' }, words.join(' · '))
}

function problem(error: unknown): HTMLElement {
  const text = error instanceof ChatFailure ? error.message : 'The chat does not answer. Please try again later.'
  return element('p', { className: 'error', role: 'alert' }, text)
}

/** A browser may deny storage to a frame; then a conversation lasts as long as its page. */
function kept(name: string): string | undefined {
  try {
    return sessionStorage.getItem(`${KEPT}.${name}`) ?? undefined
  } catch {
    return undefined
  }
}

function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(`${KEPT}.${name}`)
    else sessionStorage.setItem(`${KEPT}.${name}`, value)
  } catch {
    // storage is denied, as above
  }
}
