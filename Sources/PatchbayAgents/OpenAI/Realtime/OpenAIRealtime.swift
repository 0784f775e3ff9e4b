internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket
public import Wire

/// Speech to speech over OpenAI's Realtime API, a WebSocket at `{base_url}/realtime`. Detection of speech by the server is off.
public struct OpenAIRealtime: RealtimeProvider {
    private let server: ProviderServer

    /// - Parameter secrets: those that the settings may use.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    public init(_ settings: ProviderSettings, secrets: ProviderSecrets = ProviderSecrets()) throws(ProviderError) {
        server = try ProviderServer(settings, schemes: ("ws", "wss"), secrets: secrets)
    }

    /// Connects, and waits until the server has accepted the configuration. Failed attempts are repeated within `timeout_ms`.
    public func open(_ configuration: RealtimeConfiguration) async throws -> any RealtimeSession {
        var configuration = configuration
        configuration.voice = server.voice ?? configuration.voice
        let target = try target()
        let clock = ContinuousClock()
        let start = clock.now
        var failures = 0
        while true {
            let queue = RealtimeEventQueue()
            let timeout = TimeAmount.nanoseconds(max((server.retry.timeout - (clock.now - start)).inNanoseconds, 1))
            do {
                let opened = try await RealtimeSocket.open(target, configuration, server: server.name, queue: queue, timeout: timeout)
                return OpenAIRealtimeSession(opened, queue)
            } catch {
                guard let failure = ProviderFailure(error, at: server.name) else { throw CancellationError() }
                try Task.checkCancellation()
                failures += 1
                let delay = server.retry.delay(
                    after: failure, failures: failures, elapsed: clock.now - start, random: Double.random(in: 0...1))
                guard let delay else { throw failure.error }
                try await clock.sleep(for: delay)
            }
        }
    }

    private func target() throws(ProviderError) -> RealtimeSocket.Target {
        guard var parts = URLComponents(string: server.baseURL), let host = parts.host else {
            throw ProviderError(.unavailable, "base_url of \(server.name) is not a URL")
        }
        if !parts.path.hasSuffix("/realtime") { parts.path += "/realtime" }
        parts.queryItems = [URLQueryItem(name: "model", value: server.model)]
        let isEncrypted = parts.scheme == "wss"
        var head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: parts.percentEncodedPath + "?" + (parts.percentEncodedQuery ?? ""),
            headers: ["Host": server.name])
        if let key = server.key { head.headers.add(name: "Authorization", value: key.authorization) }
        if let traceparent = ConversationTrace.traceparent { head.headers.add(name: "traceparent", value: traceparent) }
        return RealtimeSocket.Target(
            host: host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host,
            port: parts.port ?? (isEncrypted ? 443 : 80), isEncrypted: isEncrypted, head: head)
    }
}

/// An open session. Its state belongs to `RealtimeSocket` on the channel's event loop.
final class OpenAIRealtimeSession: RealtimeSession {
    let events: AsyncThrowingStream<RealtimeEvent, any Error>
    private let channel: any Channel
    private let dialect: RealtimeDialect
    private let queue: RealtimeEventQueue

    init(_ opened: RealtimeSocket.Opened, _ queue: RealtimeEventQueue) {
        channel = opened.channel
        dialect = opened.dialect
        self.queue = queue
        events = queue.stream
    }

    deinit {
        channel.close(promise: nil)
    }

    func close() {
        queue.finish(throwing: nil)
        // 1000: normal closure (RFC 6455 section 7.4.1). The server's answer is not waited for.
        RealtimeSocket.send(.connectionClose, [0x03, 0xE8], to: channel).whenComplete { [channel] _ in channel.close(promise: nil) }
    }

    func send(_ request: RealtimeRequest) {
        guard channel.isWritable else {
            // Also after the end, when it is of no consequence.
            queue.finish(throwing: ProviderError(.timeout, "the server does not read what the realtime session sends"))
            channel.close(promise: nil)
            return
        }
        _ = RealtimeSocket.send(.text, request.bytes(dialect), to: channel)
    }
}
