public import Wire

/// Speech synthesis behind OpenAI's `POST {base_url}/audio/speech`, as PCM that is delivered while it arrives. Without word times.
public struct OpenAISynthesizer: SpeechSynthesizer {
    private let server: ProviderServer

    /// - Parameter environment: contains the API key; nil for the environment of the process.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    public init(_ settings: ProviderSettings, environment: [String: String]? = nil) throws(ProviderError) {
        server = try ProviderServer(settings, environment: environment)
    }

    /// - Parameter voice: sent to the server unless the settings name one.
    public func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
        let body: JSONValue = [
            "model": .string(server.model), "input": .string(text), "voice": .string(server.voice ?? voice), "response_format": "pcm",
        ]
        return ProviderServer.stream { [server] sink in
            let request = ProviderRequest(
                path: "/audio/speech", contentType: "application/json", accept: "audio/pcm, audio/wav",
                body: try JSON.encode(body, names: .asDeclared))
            try await server.send(request, reading: SpeechAnswer(), into: sink)
        }
    }
}
