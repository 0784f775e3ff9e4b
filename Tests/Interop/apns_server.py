"""A server that speaks APNs' contract: HTTP/2 over TLS and nothing else.

    apns_server.py CERTIFICATE KEY REQUESTS ANSWERS

Appends each request to the file REQUESTS as a line of JSON, before it is answered. ANSWERS is a JSON list of [status, body]: the answers in
the order of the requests; the last one is repeated. Prints its port, and ends with its standard input.
"""
import asyncio
import json
import ssl
import sys

import h2.config
import h2.connection
import h2.events

count = 0
connections = 0


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        global connections
        connections += 1
        self.number = connections
        self.transport = transport
        self.requests = {}
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        if transport.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
            transport.close()
            return
        self.http.initiate_connection()
        transport.write(self.http.data_to_send())

    def data_received(self, data):
        for event in self.http.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                self.requests[event.stream_id] = (dict(event.headers), bytearray())
            elif isinstance(event, h2.events.DataReceived):
                self.requests[event.stream_id][1].extend(event.data)
                self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                self.answer(event.stream_id, *self.requests.pop(event.stream_id))
        self.transport.write(self.http.data_to_send())

    def answer(self, stream, fields, body):
        global count
        status, text = answers[min(count, len(answers) - 1)]
        count += 1
        request = {"path": fields[":path"], "fields": fields, "body": body.decode(), "connection": self.number}
        with open(log, "a") as file:
            print(json.dumps(request), file=file)
        self.http.send_headers(stream, [(":status", str(status))])
        self.http.send_data(stream, text.encode(), end_stream=True)


async def serve(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


certificate, key, log, answers = sys.argv[1:4] + [json.loads(sys.argv[4])]
asyncio.run(serve(certificate, key))
