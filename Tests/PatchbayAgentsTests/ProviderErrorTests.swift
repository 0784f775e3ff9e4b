import PatchbayAgents
import Testing

struct ProviderErrorTests {
    @Test(arguments: [
        (ProviderError.Code.timeout, true), (.overloaded, true), (.disconnected, true), (.unavailable, false), (.rejected, false),
        (.invalidResponse, false),
    ])
    func onlyTransientFailuresAreRetryable(_ code: ProviderError.Code, isRetryable: Bool) {
        #expect(ProviderError(code, "").isRetryable == isRetryable)
    }
}
