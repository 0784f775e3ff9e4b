private import Wire

/// Seed inputs: a few valid ones per target, so that the fuzzer does not have to discover the grammar.
extension FuzzTarget {
    package var seeds: [[UInt8]] {
        switch self {
        case .frames: [Self.frame, Bundle.joining([Self.frame, Self.frame])]
        case .requests: Self.requestTexts.map { Array($0.utf8) }
        case .events: Self.eventTexts.map { Array($0.utf8) }
        case .json: [#"[1,-0.5e10,true,null,"a\u00e9\n",[],{"a":"b"}]"#, "1e308", #""\ud83d\ude00""#].map { Array($0.utf8) }
        case .tokens: [[1] + Self.claims.utf8, [0] + "eyJhbGciOiJIUzI1NiJ9.e30.AAAA".utf8]
        case .heads: ["Bearer abc\0patchbay.v1, patchbay.bearer.abc\0abc".utf8, "\0\0abc".utf8].map { Array($0) }
        case .gates: Self.streams.map { Array($0.utf8) }
        case .messages:
            [
                [1, 0x82, 0x83, 1, 2, 3, 4, 5, 6, 7], [0, 0x82, 1, 9, 0x82, 0], [1, 0x82, 0x80, 1, 2, 3, 4, 0x89, 0x80, 5, 6, 7, 8],
                [0, 0x82, 126, 0, 130] + [UInt8](repeating: 7, count: 130),
                [1, 0x82, 0xFE, 0, 130, 1, 2, 3, 4] + [UInt8](repeating: 7, count: 130),
                [1, 0x02, 0x81, 1, 2, 3, 4, 5, 0x80, 0x81, 1, 2, 3, 4, 6],
                [0, 0x8A, 4, 1, 2, 3, 4, 0x81, 2, 0x7B, 0x7D, 0x82, 0], [1, 0x81, 0x82, 1, 2, 3, 4, 0x7A, 0x7F, 0x8A, 0x80, 1, 2, 3, 4],
                [0, 0x8A, 126, 0, 126] + [UInt8](repeating: 7, count: 126), [0, 0x01, 1, 0xC3, 0x89, 0, 0x80, 1, 0x9F],
                [0, 0x88, 5, 3, 232] + "bye".utf8, [5, 0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0], [0, 0x81, 4, 0xF0, 0x9F, 0x99, 0x82],
            ]
        case .files:
            [[1] + "RIFF".utf8 + [40, 0, 0, 0] + "WAVEfmt ".utf8 + [16, 0, 0, 0, 1, 0, 1, 0], [2] + "OggS".utf8, [0, 0x78], [4, 0x8F]]
        case .trunks: [[10, 70, 129, 193, 20, 128, 194, 195]]
        case .providers: Self.answers.map { [$0.reader, 6] + $0.text.utf8 }
        case .proxies:
            [
                Self.proxySignature + [0x21, 0x11, 0, 15, 192, 0, 2, 1, 127, 0, 0, 1, 0x12, 0x34, 0x1E, 0xC8, 0x04, 0, 0],
                Self.proxySignature + [0x21, 0x21, 0, 36] + [UInt8](repeating: 0x20, count: 36), Self.proxySignature + [0x20, 0, 0, 0],
                Array("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n".utf8),
                Array("192.0.2.1, [2001:db8::1]:443,10.0.0.1:80, ::ffff:10.0.0.2".utf8), Array("10.0.0.0/8".utf8),
            ]
        case .configurations: Self.configurationTexts.map { Array($0.utf8) }
        case .cluster: Self.clusterTexts.map { Array($0.utf8) }
        case .assistants: (Self.assistantTexts + Self.channelTexts).map { Array($0.utf8) }
        }
    }

    private static let frame =
        FrameHeader(
            flags: .talkspurtStart, alias: TrackAlias(1), sequence: SequenceNumber(7), level: AudioLevelByte(voice: true, level: 30),
            timestamp: MediaTime(ticks: 960)
        ).bytes + [0x78, 1, 2]

    private static let claims =
        #"{"alg":"HS256","typ":"JWT"}"# + "\0"
        + #"{"iss":"devkey","sub":"alice","exp":1760000600,"nbf":0,"name":"A","attributes":{"a":"b"},"video":{"room":"r","roomJoin":true}}"#

    private static let requestTexts = [
        #"{"type":"track.publish","id":1,"data":{"name":"mic","source":"microphone","mode":"ahead","frame_ms":20,"dtx":false}}"#,
        #"{"type":"data.send","id":2,"data":{"topic":"t","payload_base64":"AAEC","to":["a"]}}"#,
        #"{"type":"rpc.response","data":{"request_id":"RPC_1","error":{"code":1400,"message":"no"}}}"#,
        #"{"type":"playout.progress","data":{"track":"TR_1","epoch":0,"played_ts":67200,"buffered_ms":180.5}}"#,
        #"{"type":"transcript.segment","id":3,"data":{"id":"s","rev":2,"role":"user","text":"x","final":true,"words":[{"text":"x","start_ts":1,"end_ts":2}]}}"#,
        #"{"type":"participant.update","id":4,"data":{"name":"n","attributes":{"k":"v"}}}"#,
        #"{"type":"ping","id":18446744073709551615,"data":{"t":-1}}"#, #"{"type":"leave"}"#,
    ]

    private static let eventTexts = [
        #"{"type":"talk.stopped","seq":13,"data":{"participant":"bob","track":"TR_1","ts":110400,"reason":"end"}}"#,
        #"{"type":"speakers.changed","seq":14,"data":{"speakers":[{"participant":"b","track":"TR_1","level":0.25,"active":true}]}}"#,
        #"{"type":"playout.cleared","seq":32,"data":{"track":"TR_1","epoch":1,"by":"a","played_ts":null,"played_ms":0,"discarded_ms":8,"estimated":true}}"#,
        #"{"type":"stats","seq":26,"data":{"rtt_ms":12.5,"sent":1500,"dropped":0,"late_p99_ms":2}}"#,
        #"{"type":"error","re":7,"data":{"code":1502,"message":"m","retryable":false}}"#,
        #"{"type":"bye","seq":29,"data":{"reason":"SERVER_SHUTDOWN","retryable":true}}"#,
    ]

    private static let proxySignature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let streams = [
        "\u{7}POST /v1/rooms?a=%20 HTTP/1.1\r\nHost: h:1\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.0\r\n\r\n",
        "\u{1}GET /v1/rtc HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nabc",
        "\u{40}PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "\u{2}GET /a%2Fb?access_token=c%3D&a+b HTTP/1.1\r\nHost: h\r\nX: a\r\nOrigin:\r\nAuthorization: Bearer t\r\nX-Forwarded-For: 192.0.2.1\r\n"
            + "Connection: close\r\nExpect: 100-continue\r\n\r\n",
        "\u{10}GET /v1/rtc HTTP/1.1\r\nhost: h\r\nconnection: keep-alive, upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
            + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: patchbay.v1, patchbay.bearer.t\r\n\r\n",
    ]

    private static let clusterTexts = [
        #"{"node":"a/1f","number":"c","build":"0.1.0","draining":false,"load":250,"url":"wss://a.example.org"}"#,
        #"{"epoch":"3","claim":"ffffffffffffffff","home":"b/1","zone":{"name":"x"}}"# + "\n\u{0}\n",
        #"{"message":{"subject":"$KV.b.r","seq":4,"hdrs":"TkFUUy8xLjANCktWLU9wZXJhdGlvbjogREVMDQoNCg==","data":"AQ=="}}"#,
        #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"},"stream":"KV_b","seq":0}"#,
        #"{"stream":"KV_b","seq":18446744073709551615}"#,
    ]

    private static let configurationTexts = [
        """
        port: 7880
        shards: 0x2
        cert: a.pem
        trusted_proxies: ["127.0.0.0/8", ::1]
        tls: {fast_path: off}
        room: {auto_create: yes, empty_timeout: 300, silence_limit: 1_0}
        keys:
          my-app: a-secret-of-at-least-32-characters
          other: {algorithm: RS256, public_key_file: a.pem}
        users: {issuer: i, algorithm: HS256, secret: s, audience: a}
        allowed_origins: [https://a]
        webhook: {urls: ["https://a"], api_key: my-app}
        """,
        """
        assistants:
          - &base
            id: default
            greetings: ["Hello {name}"]
            tools: [{name: t, url: "https://a", parameters: {type: object, properties: {n: {type: number, minimum: -1.5e3}}}}]
            widget: {theme: auto}
          - {<<: *base, id: second, name: ~}
        dispatch: [{room: "support-*", assistant: second}]
        """,
        "{my-app: {{ secret }}}", #"{"a":"b","c":{"algorithm":"HS256","secret":"d"}}"#, "a: b, c: \"d\"", "keys: {a: 2026-01-01, b: 1:30}",
        "--- !!set {a: , ? [b] : }", "a: &a [*a, !!binary AA==, !!int 7, .inf, |\n x]", "? {a: b}\n: c\n---\nd",
    ]

    private static let assistantTexts = [
        #"{"type":"tool.started","data":{"id":"t1","name":"find"}}"#,
        #"{"type":"tool.failed","data":{"id":"t1","name":"find","message":"m","retry":true}}"#,
        #"{"type":"card","data":{"id":"c1","kind":"draft","title":"t","body":"b\n\u00e9","actions":[{"id":"edit","title":"Edit"},{"id":"send","title":"Send"}]}}"#,
        #"{"type":"card.action","data":{"card":"c1","action":"send","fields":{"body":"b","title":"t"}}}"#,
        #"{"type":"turn.metrics","data":{"turn":2,"end_of_turn_ms":259,"recognition_ms":89,"voice_to_voice_ms":375,"interrupted":false}}"#,
    ]

    private static let channelTexts = [
        #"{"type":"worker.register","id":1,"data":{"assistant_id":"a","capacity":2,"load":0.5,"jobs":[{"id":"JB_1","room":"r","assistant":"a","attempt":1}]}}"#,
        #"{"type":"worker.status","data":{"load":0.1,"jobs":1,"draining":true,"turns":[{"turn":2,"first_token_ms":1,"interrupted":true}],"turns_dropped":3}}"#,
        #"{"type":"job.finish","id":2,"data":{"job":"JB_1","error":"e"}}"#,
        #"{"type":"call.start","id":3,"data":{"to":["user:u","assistant:a"],"caller_name":"n","metadata":"m","idempotency_key":"k"}}"#,
        #"{"type":"call.reject","data":{"call":"CL_1","busy":true,"reason":"r"}}"#,
    ]

    private static let answers: [(reader: UInt8, text: String)] = [
        (0, "event: e\r\ndata: a\ndata:b\n\n: c\rdata"),
        (1, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"),
        (
            1,
            #"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"i","function":{"name":"n","arguments":"{}"}}]},"finish_reason":"stop"}]}"#
        ),
        (1, #"data: {"error":{"type":"server_error","code":"c"}}"#), (2, "RIFF$\0\0\0WAVEfmt "), (2, "\u{1}\u{2}\u{3}\u{4}\u{5}"),
        (3, #"{"text":"a","language":"en","words":[{"word":"a","start":0.1,"end":0.5}]}"#),
        (
            4,
            #"{"type":"session.created","session":{"type":"realtime"}}"# + "\n"
                + #"{"type":"response.created","response":{"id":"r"}}"# + "\n"
                + #"{"type":"response.audio.delta","item_id":"i","delta":"AAEC"}"# + "\n"
                + #"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c","name":"n","arguments":""}}"# + "\n"
                + #"{"type":"response.done","response":{"id":"r","status":"failed","status_details":{"error":{"type":"t"}}}}"#
        ),
    ]
}
