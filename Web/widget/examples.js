// The page of examples: buttons that copy them, and this gateway's address in them.

const status = document.createElement('p')
status.setAttribute('role', 'status')
status.className = 'visually-hidden'
document.body.append(status)

for (const code of document.querySelectorAll('[data-example]')) {
  code.textContent = code.textContent.replaceAll('https://voice.example', location.origin)
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', `Copy the example “${code.closest('section').querySelector('h2').textContent}”`)
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(code.textContent)
      button.textContent = status.textContent = 'Copied'
    } catch {
      getSelection().selectAllChildren(code)
      button.textContent = status.textContent = 'Selected: copy it with Ctrl+C'
    }
    setTimeout(() => (button.textContent = 'Copy'), 3000)
  }
  code.parentElement.before(button)
}

const consent = document.querySelector('#consent')
consent.onchange = () => document.querySelector('#later').setAttribute('should-initialize', consent.checked)
