import Sockets
import Testing

@testable import PatchbayClient

struct GatewayAddressTests {
    @Test(
        arguments: [
            ("wss://127.0.0.1:7880", "127.0.0.1", 7_880, "/v1/rtc"), ("wss://voice.example.org", "voice.example.org", 443, "/v1/rtc"),
            ("wss://voice.example.org/", "voice.example.org", 443, "/v1/rtc"), ("https://localhost:443", "localhost", 443, "/v1/rtc"),
            ("wss://[::1]:7881", "::1", 7_881, "/v1/rtc"), ("wss://h:1/behind/proxy", "h", 1, "/behind/proxy"),
        ])
    func validURLsAreParsed(url: String, host: String, port: Int, path: String) throws {
        let address = try GatewayAddress(url)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.path == path)
    }

    @Test(arguments: [
        "", "localhost", "localhost:7880", "ws://localhost", "http://localhost", "wss://", "wss://h?x=1", "wss://u@h", "wss://h h",
    ])
    func invalidURLsAreRejected(url: String) throws {
        let error = try #require(throws: PatchbayClient.ConnectError.self) { try GatewayAddress(url) }
        #expect(error.kind == .badURL)
        #expect(!error.isRetryable)
    }

    @Test func autoSubscribeIsInTheQuery() throws {
        let address = try GatewayAddress("wss://h")
        #expect(address.roomTarget(autoSubscribe: true) == "/v1/rtc")
        #expect(address.roomTarget(autoSubscribe: false) == "/v1/rtc?auto_subscribe=false")
    }
}
