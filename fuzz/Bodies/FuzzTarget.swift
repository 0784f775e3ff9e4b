private import Audio
private import Gateway
private import Wire

/// What a fuzzer can be let loose on, each under the name of its folder in `fuzz/cases`.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case frames, requests, events, json, tokens, heads, messages, records, files, trunks

    /// Whatever the bytes are, it returns; a trap is a finding.
    package func run(_ bytes: [UInt8]) {
        switch self {
        case .frames: WireFuzzing.readFrames(bytes)
        case .requests: WireFuzzing.readRequest(bytes)
        case .events: WireFuzzing.readServerMessage(bytes)
        case .json: WireFuzzing.readJSON(bytes)
        case .tokens: TokenFuzzing.verify(bytes)
        case .heads: GatewayFuzzing.findToken(bytes)
        case .messages:
            SocketsFuzzing.read(bytes)
            SocketsFuzzing.scan(bytes)
        case .records: RecordFuzzing.read(bytes)
        case .files: AudioFuzzing.read(bytes)
        case .trunks: GatewayFuzzing.carry(bytes)
        }
    }
}
