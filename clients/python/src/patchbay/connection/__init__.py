"""Connections to the gateway: WebSockets that reconnect, and requests with replies."""
