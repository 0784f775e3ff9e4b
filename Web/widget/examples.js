// The page of examples: buttons that copy them, and this gateway's address in them.

const announcement = document.createElement('p')
announcement.setAttribute('role', 'status')
announcement.className = 'visually-hidden'
document.body.append(announcement)

for (const code of document.querySelectorAll('[data-example]')) {
  code.textContent = code.textContent.replaceAll('https://voice.example', location.origin)
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy the example “${code.closest('section').querySelector('h2').textContent}”`)
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(code.textContent)
      button.textContent = announcement.textContent = 'Copied'
    } catch {
      getSelection().selectAllChildren(code)
      button.textContent = announcement.textContent = 'Selected: copy it with Ctrl+C'
    }
    setTimeout(() => (button.textContent = 'Copy'), 3000)
  }
  code.parentElement.before(button)
}

const consent = /** @type {HTMLInputElement} */ (document.querySelector('#consent'))
consent.onchange = () => document.querySelector('#later').setAttribute('should-initialize', String(consent.checked))
