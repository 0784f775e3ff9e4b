private import Sockets

/// Feeds what proxies send to its parsers. A trap is a finding.
enum ProxyFuzzing {
    /// A header of the PROXY protocol is read from exactly the bytes asked for, and with the same result however they arrive.
    static func readHeader(_ bytes: [UInt8]) {
        var needed = 0
        while true {
            guard needed <= bytes.count else { return }
            switch ProxyHeader.parse(Array(bytes.prefix(needed))) {
            case .needs(let total):
                precondition(total > needed && total <= ProxyHeader.bytesMax, "a header needs more, but not more than it may have")
                // None of the bytes before its end completes it.
                for count in needed..<min(total, bytes.count) {
                    guard case .needs(let again) = ProxyHeader.parse(Array(bytes.prefix(count))) else {
                        return precondition(total == 16, "only the fixed part of a header may be refused early")
                    }
                    precondition(again <= total, "what is needed does not depend on how bytes arrive")
                }
                needed = total
            case .complete(let header):
                precondition(needed >= 16, "a complete header has its fixed part")
                if let source = header.source { checkText(of: source) }
                return
            case .refused: return
            }
        }
    }

    /// The client's address is the peer's, a trusted proxy's, or the first untrusted one.
    static func readAddresses(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let network = try? IPNetwork("10.0.0.0/8"), let peer = IPAddress("10.0.0.1") else {
            preconditionFailure("these are addresses")
        }
        let client = ProxyTrust(networks: [network]).client(of: peer, forwardedFor: text)
        checkText(of: client.address)
        precondition(!client.isMalformed || network.contains(client.address), "the search ends at a trusted address")
        if let parsed = try? IPNetwork(text), let again = try? IPNetwork("\(parsed)") {
            precondition(parsed == again, "a network is read as it is written")
        }
    }

    private static func checkText(of address: IPAddress) {
        precondition(IPAddress(address.description) == address, "an address is read as it is written")
    }
}
