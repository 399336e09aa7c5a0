"""Events: rules on outputs that guess the side they came from."""
