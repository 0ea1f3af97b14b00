import './visitor.css'
import type { ChatInfo, ChatParameters, Site } from '../../contract/chat/application.js'
import { type BrowserVisit, type ChatClient, ChatFailure, createChatClient, type MessagePage } from '../chat/client.js'
import { rateTurn, runTurn, stopTurn, type TurnProgress } from '../chat/turn.js'
import { createElement, formatAnswer } from './elements.js'
import { createInputsForm } from './inputs.js'

/** Page of one application for visitors: small, without a framework, and without the application's key. */
const appId = location.pathname.split('/').at(-1) ?? ''
const STORAGE_PREFIX = `ks.chat.${appId}`
const root = document.getElementById('chat')

if (root !== null) start(root).catch((error: unknown) => root.replaceChildren(createErrorMessage(error)))

async function start(container: HTMLElement): Promise<void> {
  const client = createChatClient((previousToken) => startVisit(previousToken ?? readStored('token')))
  const user = await client.user()
  const [site, info, parameters] = await Promise.all([
    client.read<Partial<Site>>('/site'),
    client.read<ChatInfo>('/info'),
    client.read<ChatParameters>('/parameters', { user }),
  ])
  const title = site.title || info.name
  document.title = title
  const messageList = createElement('main', { className: 'talk', tabIndex: -1 })
  const form = createComposer()
  const inputs = createInputsForm(parameters.user_input_form)
  let conversationId = readStored('conversation')
  let running: TurnProgress | undefined

  const ask = async (query: string) => {
    if (running !== undefined || query.trim() === '' || !inputs.isComplete()) return
    const turn = createTurnView(client)
    messageList.append(turn.view)
    form.setRunning(true)
    suggestions.replaceChildren()
    const abort = new AbortController()
    const finished = await runTurn(
      {
        client,
        question: query.trim(),
        conversationId,
        inputs: inputs.values(),
        withSuggestions: parameters.suggested_questions_after_answer.enabled,
        signal: abort.signal,
      },
      (state) => {
        const isFirst = running === undefined
        running = state
        turn.show(state)
        if (isFirst) turn.view.scrollIntoView({ block: 'start' })
      },
    )
    running = undefined
    form.setRunning(false)
    if (finished.conversationId !== undefined) {
      conversationId = finished.conversationId
      store('conversation', conversationId)
      inputs.view.hidden = true
    }
    suggest(finished.suggested)
  }
  const suggestions = createElement('div', { className: 'suggestions' })
  const suggest = (questions: readonly string[]) =>
    suggestions.replaceChildren(
      ...questions.map((text) => createElement('button', { type: 'button', onclick: () => void ask(text) }, text)),
    )
  form.onAsk = (text) => void ask(text)
  form.onStop = () => {
    if (running !== undefined) void stopTurn(client, running).catch(() => undefined)
  }
  const restartButton = createElement('button', { type: 'button', className: 'quiet' }, 'New conversation')
  restartButton.onclick = () => {
    if (running !== undefined) return
    conversationId = undefined
    store('conversation', undefined)
    inputs.view.hidden = false
    messageList.replaceChildren(...createOpening(parameters.opening_statement))
    suggest(parameters.suggested_questions)
  }
  container.replaceChildren(
    createElement('header', {}, createElement('h1', {}, title), restartButton),
    messageList,
    suggestions,
    inputs.view,
    form.view,
    createFooter(site),
  )
  messageList.append(...createOpening(parameters.opening_statement))
  if (conversationId === undefined) suggest(parameters.suggested_questions)
  else if (await restoreConversation(client, messageList, conversationId)) inputs.view.hidden = true
  else {
    conversationId = undefined
    suggest(parameters.suggested_questions)
  }
}

async function startVisit(previousToken: string | undefined): Promise<BrowserVisit> {
  const response = await fetch(`/chat/${encodeURIComponent(appId)}/visits`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(previousToken === undefined ? {} : { before: previousToken }),
  })
  if (!response.ok) throw new ChatFailure(response.status, '', 'This chat is not open now. Please try again later.')
  const visit: BrowserVisit = await response.json()
  store('token', visit.token)
  return visit
}

/** @returns whether the conversation still exists */
async function restoreConversation(
  client: ChatClient,
  messageList: HTMLElement,
  conversationId: string,
): Promise<boolean> {
  try {
    const query = { conversation_id: conversationId, user: await client.user(), limit: '20' }
    const { data } = await client.read<MessagePage>('/messages', query)
    for (const { id, query, answer, retriever_resources: sources, feedback, error } of data) {
      const turn = createTurnView(client)
      turn.show({
        question: query,
        answer,
        sources,
        state: 'done',
        steps: [],
        suggested: [],
        messageId: id,
        ...(feedback === null ? {} : { rating: feedback.rating }),
        ...(error === null ? {} : { error }),
      })
      messageList.append(turn.view)
    }
    return data.length > 0
  } catch {
    store('conversation', undefined)
    return false
  }
}

function createComposer() {
  const input = createElement('textarea', {
    rows: 2,
    placeholder: 'Your question',
    ariaLabel: 'Your question',
    maxLength: 4000,
  })
  const button = createElement('button', { type: 'submit', className: 'primary' }, 'Send')
  const view = createElement('form', { className: 'composer' }, input, button)
  let isRunning = false
  const controls = {
    view,
    onAsk: (_text: string) => {},
    onStop: () => {},
    setRunning: (isRunningNow: boolean) => {
      isRunning = isRunningNow
      button.textContent = isRunningNow ? 'Stop' : 'Send'
    },
  }
  const submit = () => {
    if (isRunning) return controls.onStop()
    const { value } = input
    if (value.trim() === '') return
    input.value = ''
    controls.onAsk(value)
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
  return controls
}

function createTurnView(client: ChatClient) {
  const query = createElement('p', { className: 'question' })
  const answer = createElement('div', { className: 'answer', ariaLive: 'polite' })
  const details = createElement('div', { className: 'rest' })
  const view = createElement('article', {}, query, answer, details)
  const show = (turn: TurnProgress) => {
    query.textContent = turn.question
    if (turn.answer === '' && turn.state === 'running')
      answer.replaceChildren(createElement('p', { className: 'faint' }, '…'))
    else answer.replaceChildren(...formatAnswer(turn.answer))
    if (turn.state === 'running') return
    details.replaceChildren(
      ...(turn.error === undefined ? [] : [createElement('p', { className: 'error', role: 'alert' }, turn.error)]),
      ...(turn.state === 'stopped' ? [createElement('p', { className: 'faint' }, 'Stopped.')] : []),
      ...createPassages(turn),
      ...(turn.messageId === undefined ? [] : [createRatings(client, turn, show)]),
    )
  }
  return { view, show }
}

function createPassages({ sources }: TurnProgress): HTMLElement[] {
  if (sources.length === 0) return []
  const items = sources.map(({ document_name, content, source_url }) => {
    const isLink = source_url !== undefined && /^https?:\/\//.test(source_url)
    const name = isLink
      ? createElement('a', { href: source_url, target: '_blank', rel: 'noreferrer noopener' }, document_name)
      : createElement('strong', {}, document_name)
    return createElement('li', {}, name, createElement('p', { className: 'faint' }, content.slice(0, 300)))
  })
  const title = sources.length === 1 ? '1 passage' : `${sources.length} passages`
  return [createElement('details', {}, createElement('summary', {}, title), createElement('ol', {}, ...items))]
}

function createRatings(client: ChatClient, turn: TurnProgress, show: (turn: TurnProgress) => void): HTMLElement {
  const button = (rating: 'like' | 'dislike', label: string) => {
    const isSet = turn.rating === rating
    const created = createElement('button', { type: 'button', className: 'quiet', ariaPressed: String(isSet) }, label)
    created.onclick = async () => {
      const { rating: _, ...without } = turn
      const next: TurnProgress = isSet ? without : { ...turn, rating }
      await rateTurn(client, turn, next.rating).then(
        () => show(next),
        () => undefined,
      )
    }
    return created
  }
  return createElement('div', { className: 'ratings' }, button('like', 'Helpful'), button('dislike', 'Not helpful'))
}

function createOpening(text: string): HTMLElement[] {
  return text === '' ? [] : [createElement('p', { className: 'opening' }, text)]
}

function createFooter({ copyright, custom_disclaimer }: Partial<Site>): HTMLElement {
  const texts = [custom_disclaimer, copyright].filter((text) => text !== undefined && text !== '')
  return createElement('footer', { className: 'faint' }, texts.join(' · '))
}

function createErrorMessage(error: unknown): HTMLElement {
  const text = error instanceof ChatFailure ? error.message : 'The chat does not answer. Please try again later.'
  return createElement('p', { className: 'error', role: 'alert' }, text)
}

/** A browser may deny storage to a frame; then a conversation lasts as long as its page. */
function readStored(name: string): string | undefined {
  try {
    return sessionStorage.getItem(`${STORAGE_PREFIX}.${name}`) ?? undefined
  } catch {
    return undefined
  }
}

function store(name: string, value: string | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(`${STORAGE_PREFIX}.${name}`)
    else sessionStorage.setItem(`${STORAGE_PREFIX}.${name}`, value)
  } catch {
    // storage is denied, as above
  }
}
